import type { Failure } from './failure.ts'

/** An HTTP header list as received: name, value, name, value …, order, case and duplicates kept. */
export type RawHeaders = readonly string[]

/** The head of an upstream's answer. */
export interface ResponseHead {
  readonly status: number
  readonly statusText: string
  readonly headers: RawHeaders
  /** Body bytes that `Content-Length` announces; `null` where it is absent. */
  readonly contentLength: number | null
}

/**
 * Sees what passes, and changes none of it. All verbs are called synchronously on the request's path, with
 * `atMs` from the call's monotonic clock. An observer may not keep or alter a chunk (a view pins the whole
 * network buffer: copy what must stay) and must not throw; one that does is detached and counted.
 * Per attempt: `requestStart`, then at most one `responseStart`, any number of `data`, and one `end` or `error`.
 */
export interface CallObserver {
  /** An attempt was handed to the transport. */
  requestStart(atMs: number): void
  /** The head of the answer arrived. */
  responseStart(head: ResponseHead, atMs: number): void
  /** Body bytes, exactly as received. */
  data(chunk: Uint8Array, atMs: number): void
  /** The answer's HTTP message is complete. */
  end(atMs: number): void
  /** The attempt failed, or was aborted because the client left. */
  error(failure: Failure, atMs: number): void
}
