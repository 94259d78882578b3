import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply } from 'fastify'
import type { QueryAnswer } from '../../query/query-messages.ts'
import type { QueryOutcome } from '../../query/query-messages.ts'
import type { QueryFormat } from '../../query/query-question.ts'
import { type ContentCoding, codingFor } from '../http/content-coding.ts'
import { entityTag, isKnown } from '../http/entity-tag.ts'
import { RequestProblem } from '../http/request-problem.ts'

/** Below it, packing saves nothing that anybody would notice. */
const leastPackedBytes = 1024

const contentTypes: Readonly<Record<QueryFormat, string>> = {
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson; charset=utf-8',
}

const problemStatus = {
  too_many_groups: 400,
  call_not_found: 404,
  folded_range: 409,
  query_interrupted: 503,
  too_busy: 503,
  too_slow: 503,
} as const

const unavailable = {
  too_busy: 'Too many questions wait for their answers; ask again in a moment.',
  query_interrupted: 'The process that reads the database ended meanwhile; ask again.',
  closing: 'The dashboard is closing.',
} as const

/**
 * Sends the outcomes of questions. What is sent may be kept by a browser, but not shown again without asking here
 * (`no-cache`): a page that polls gets a 304 while nothing has changed, and nothing once it is signed out.
 */
export class QueryReplies {
  /** Answers are shared by those who ask the same; so is the work of packing them. */
  readonly #packed = new WeakMap<QueryAnswer, Map<ContentCoding, Promise<Buffer>>>()

  /** Throws the problem where there is no answer. */
  async send(reply: FastifyReply, outcome: QueryOutcome): Promise<FastifyReply> {
    if (outcome.kind !== 'answer') throw problemOf(outcome)
    const { body, tag, format, nextCursor } = outcome
    const isPackable = body.byteLength > leastPackedBytes
    const coding = isPackable ? codingFor(headerOf(reply, 'accept-encoding')) : null
    const etag = entityTag(tag, coding)
    reply.header('cache-control', 'private, no-cache').header('etag', etag).header('vary', 'Accept-Encoding')
    if (nextCursor !== null) reply.header('x-tokenweir-next-cursor', nextCursor)
    if (isKnown(headerOf(reply, 'if-none-match'), tag)) return reply.code(304).send()
    reply.type(contentTypes[format])
    if (format !== 'json') reply.header('content-disposition', `attachment; filename="tokenweir.${format}"`)
    if (coding === null) return reply.send(asBuffer(body))
    return reply.header('content-encoding', coding).send(await this.#packedBody(outcome, coding))
  }

  /** As `send`, for what no browser may keep: payloads, which are nobody else's business. */
  async sendPrivate(reply: FastifyReply, outcome: QueryOutcome): Promise<FastifyReply> {
    if (outcome.kind !== 'answer') throw problemOf(outcome)
    const { body, format } = outcome
    const coding = body.byteLength > leastPackedBytes ? codingFor(headerOf(reply, 'accept-encoding')) : null
    reply.header('vary', 'Accept-Encoding').type(contentTypes[format])
    if (coding === null) return reply.send(asBuffer(body))
    return reply.header('content-encoding', coding).send(await this.#packedBody(outcome, coding))
  }

  #packedBody(answer: QueryAnswer, coding: ContentCoding): Promise<Buffer> {
    const known = this.#packed.get(answer) ?? new Map<ContentCoding, Promise<Buffer>>()
    this.#packed.set(answer, known)
    const packed = known.get(coding) ?? pack(answer.body, coding)
    known.set(coding, packed)
    return packed
  }
}

function problemOf(outcome: Exclude<QueryOutcome, QueryAnswer>): RequestProblem {
  const retry = { headers: { 'retry-after': '1' } }
  if (outcome.kind === 'unavailable') {
    if (outcome.code === 'closed') return new RequestProblem(503, 'closing', unavailable.closing, retry)
    const code = outcome.code === 'interrupted' ? 'query_interrupted' : outcome.code
    return new RequestProblem(problemStatus[code], code, unavailable[code], retry)
  }
  const { code, message, param } = outcome
  return new RequestProblem(problemStatus[code], code, message, { param })
}

/** On threads of its own, as zlib's asynchronous functions are. */
function pack(body: Uint8Array, coding: ContentCoding): Promise<Buffer> {
  // The levels above take many times as long for a few per cent.
  if (coding === 'gzip') return promisify(gzip)(body)
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }
  return promisify(brotliCompress)(body, quality)
}

function headerOf(reply: FastifyReply, name: string): string | undefined {
  const value = reply.request.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
