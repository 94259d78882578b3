import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { QueryAnswer, QueryOutcome } from '../../query/query-messages.ts'
import type { QueryFormat } from '../../query/query-question.ts'
import type { RouteContext } from '../http/app.ts'
import { type ContentCoding, answerContent } from '../http/content.ts'
import { RequestError } from '../http/request-error.ts'

/** Compression of smaller bodies saves nothing noticeable. */
const leastPackedBytes = 1024

/** The content types of answers and files, by format. */
export const contentTypes: Readonly<Record<QueryFormat, string>> = {
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson; charset=utf-8',
}

const unavailable = {
  closed: ['closing', 'The dashboard is closing.'],
  interrupted: ['query_interrupted', 'The query process ended; try again.'],
  too_busy: ['too_busy', 'Too many queries are waiting; try again in a moment.'],
} as const

/** Compressed answers. Equal questions share an answer and its compression. */
const packed = {
  br: new WeakMap<QueryAnswer, Promise<Buffer>>(),
  gzip: new WeakMap<QueryAnswer, Promise<Buffer>>(),
}

/**
 * The response to a question. A browser may store it, but must revalidate it (`no-cache`), so a polling page
 * gets 304 while nothing changes. `isPrivate`: the answer has payloads, and no browser may store it. Throws
 * {@link RequestError} if there is no answer.
 */
export function answerQuery(
  c: RouteContext,
  outcome: QueryOutcome,
  { isPrivate = false }: { readonly isPrivate?: boolean } = {},
): Promise<Response> {
  const answer = answerIn(outcome)
  const { body, format, nextCursor, tag } = answer
  return answerContent(c, {
    headers: {
      'Content-Type': contentTypes[format],
      ...(isPrivate ? {} : { 'Cache-Control': 'private, no-cache' }),
      ...(nextCursor === null ? {} : { 'X-Tokenweir-Next-Cursor': nextCursor }),
      ...(format === 'json' ? {} : { 'Content-Disposition': `attachment; filename="tokenweir.${format}"` }),
    },
    tag: isPrivate ? null : tag,
    body: Buffer.from(body.buffer, body.byteOffset, body.byteLength),
    packed: (coding) => (body.byteLength > leastPackedBytes ? packedBody(answer, coding) : undefined),
  })
}

/** The answer; throws {@link RequestError} if there is none. */
function answerIn(outcome: QueryOutcome): QueryAnswer {
  if (outcome.kind === 'answer') return outcome
  if (outcome.kind === 'refused') {
    const { code, message, param, data } = outcome
    throw new RequestError(code, message, { param, data })
  }
  const [code, message] = unavailable[outcome.code]
  throw new RequestError(code, message)
}

/** The JSON of the answer; throws {@link RequestError} if there is none. */
export function jsonIn(outcome: QueryOutcome): unknown {
  return JSON.parse(Buffer.from(answerIn(outcome).body).toString())
}

function packedBody(answer: QueryAnswer, coding: ContentCoding): Promise<Buffer> {
  const body = packed[coding].get(answer) ?? pack(answer.body, coding)
  packed[coding].set(answer, body)
  return body
}

/** Compresses a body on zlib's threads. */
function pack(body: Uint8Array, coding: ContentCoding): Promise<Buffer> {
  // Higher levels take many times as long and save a few per cent.
  if (coding === 'gzip') return promisify(gzip)(body)
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }
  return promisify(brotliCompress)(body, quality)
}
