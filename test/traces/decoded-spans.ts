import generated from '@opentelemetry/otlp-transformer/build/src/generated/root.js'

/** What OpenTelemetry's own generated code reads and writes; it has no types of its own. */
interface Message {
  decode(bytes: Uint8Array): unknown
  encode(value: object): { finish(): Uint8Array }
  toObject(message: unknown, options: object): unknown
}

const { ExportTraceServiceRequest: request, ExportTraceServiceResponse: response } = (
  generated as unknown as {
    opentelemetry: { proto: { collector: { trace: { v1: Readonly<Record<string, Message>> } } } }
  }
).opentelemetry.proto.collector.trace.v1

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

/** A request as OpenTelemetry's own code reads it: ids in hexadecimal digits, 64-bit integers as texts. */
export function decodedRequest(body: Buffer, contentType: string): DecodedRequest {
  if (contentType === 'application/json') return JSON.parse(body.toString())
  const decoded = request!.toObject(request!.decode(body), { longs: String, bytes: String })
  const hex = (key: string, value: unknown): unknown =>
    /(?:trace|span)Id$/i.test(key) ? Buffer.from(String(value), 'base64').toString('hex') : value
  return JSON.parse(JSON.stringify(decoded), hex)
}

/** The spans of a request. */
export function spansIn(body: Buffer, contentType: string): readonly DecodedSpan[] {
  const { resourceSpans } = decodedRequest(body, contentType)
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
}

/** The body of an answer that took a part. */
export function partialSuccess(rejectedSpans: number, errorMessage: string): Buffer {
  return Buffer.from(response!.encode({ partialSuccess: { rejectedSpans, errorMessage } }).finish())
}
