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
 * Sees what passes in one attempt, and changes none of it. All verbs are called synchronously on the request's path, with
 * `atMs` from the call's monotonic clock: at most one `responseStart`, any number of `data`, and one `end`. An observer
 * may not keep or alter a chunk (a view pins the whole network buffer: copy what must stay) and must not throw.
 */
export interface CallObserver {
  /** The head of the answer arrived. */
  responseStart(head: ResponseHead): void
  /** Body bytes, exactly as received. */
  data(chunk: Uint8Array, atMs: number): void
  /** The attempt is over: the answer's HTTP message is whole, or the attempt failed or was aborted. */
  end(isWhole: boolean): void
}
