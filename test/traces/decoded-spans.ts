export interface DecodedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly flags: number
  readonly status?: { readonly code?: number }
  readonly attributes: readonly { readonly key: string; readonly value: object }[]
}

export interface DecodedRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { readonly key: string; readonly value: object }[] }
    readonly scopeSpans: readonly {
      readonly scope: { readonly name: string; readonly version: string }
      readonly spans: readonly DecodedSpan[]
    }[]
  }[]
}

export function decodedRequest(body: Buffer): DecodedRequest {
  return JSON.parse(body.toString())
}

/** The spans of a request. */
export function spansIn(body: Buffer): readonly DecodedSpan[] {
  return decodedRequest(body).resourceSpans.flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans),
  )
}

/** The body of an answer that took a part. OTLP's JSON has 64-bit integers as texts. */
export function partialSuccess(rejectedSpans: number, errorMessage: string): Buffer {
  return Buffer.from(
    JSON.stringify({ partialSuccess: { rejectedSpans: String(rejectedSpans), errorMessage } }),
  )
}
