/** The place of a call in the client's trace. */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** The client's own span, 16 hexadecimal digits; null if the client does not record this trace. */
  readonly spanId: string | null
}

const form = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/

/** Reads a `traceparent` header (W3C Trace Context §3.2); null if it is malformed. Later versions may add to its end. */
export function parseTraceParent(header: string): TraceParent | null {
  const [, version, traceId = '', spanId = '', flags = '', more] = form.exec(header) ?? []
  if (version === undefined || (version === '00' && more !== undefined)) return null
  return { traceId, spanId: (Number.parseInt(flags, 16) & 1) === 1 ? spanId : null }
}
