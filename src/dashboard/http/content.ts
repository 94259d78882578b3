import { type RouteContext, bytes } from './app.ts'

/** The codings that the dashboard can send. */
export type ContentCoding = 'br' | 'gzip'

/** Content that browsers may have cached, and that can be sent compressed. */
export interface Content {
  readonly headers: Readonly<Record<string, string>>
  /** The entity tag, which changes with the body; null for content that no browser may store. */
  readonly tag: string | null
  readonly body: Buffer
  /** The compressed body; undefined if compression saves nothing. */
  readonly packed: (coding: ContentCoding) => Buffer | Promise<Buffer> | undefined
}

/** The response with the content, in a coding that the client accepts; 304 if the client has it. */
export async function answerContent(
  c: RouteContext,
  { headers, tag, body, packed }: Content,
  status: 200 | 401 = 200,
): Promise<Response> {
  const coding = codingFor(c.req.header('accept-encoding'))
  const isNotModified = tag !== null && isKnown(c.req.header('if-none-match'), tag)
  const packedBody = isNotModified || coding === null ? undefined : await packed(coding)
  const sentCoding = packedBody === undefined ? null : coding
  const all = {
    ...headers,
    Vary: 'Accept-Encoding',
    ...(tag === null ? {} : { ETag: entityTag(tag, sentCoding) }),
    ...(sentCoding === null ? {} : { 'Content-Encoding': sentCoding }),
  }
  return isNotModified ? c.body(null, 304, all) : bytes(c, packedBody ?? body, all, status)
}

/** The coding for a client with this `Accept-Encoding`; null for no coding. */
export function codingFor(acceptEncoding: string | undefined): ContentCoding | null {
  const weights = new Map<string, number>()
  for (const item of (acceptEncoding ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim())
    const q = parameters.find((parameter) => parameter.startsWith('q='))
    weights.set(name, q === undefined ? 1 : Number(q.slice(2)) || 0)
  }
  const weightOf = (name: string): number => weights.get(name) ?? weights.get('*') ?? 0
  const [br, gzip] = [weightOf('br'), weightOf('gzip')]
  if (br <= 0 && gzip <= 0) return null
  return br >= gzip ? 'br' : 'gzip'
}

/** The `ETag` of a content in a coding. Each coding has another tag, because the bytes differ. */
function entityTag(tag: string, coding: ContentCoding | null): string {
  return `"${tag}${coding === null ? '' : `-${coding}`}"`
}

/** True if a client with this `If-None-Match` has the content, in any coding. */
export function isKnown(ifNoneMatch: string | undefined, tag: string): boolean {
  const codings = [null, 'br', 'gzip'] as const
  const tags = (ifNoneMatch ?? '').split(',').map((text) => text.trim().replace(/^W\//, ''))
  return tags.some((etag) => etag === '*' || codings.some((coding) => etag === entityTag(tag, coding)))
}
