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
