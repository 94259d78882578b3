import { STATUS_CODES } from 'node:http'
import { type ReplyStep, cut, write, writeEach } from './reply-step.ts'

/** Header lines in order: `['Name', 'value']`. Duplicates and odd case are sent as they stand. */
export type HeaderLines = readonly (readonly [name: string, value: string])[]

export interface ResponseHeadOptions {
  readonly reason?: string
  /** `1.1` unless told. */
  readonly httpVersion?: string
}

/** The exact bytes of a status line and header block; nothing is added. Good for 1xx heads, too. */
export function responseHead(
  status: number,
  headers: HeaderLines = [],
  options: ResponseHeadOptions = {},
): Buffer {
  const reason = options.reason ?? STATUS_CODES[status] ?? ''
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return Buffer.from(`HTTP/${options.httpVersion ?? '1.1'} ${status} ${reason}\r\n${lines}\r\n`, 'latin1')
}

/** The head of a stream of events, in chunks. */
export const streamHead: Buffer = responseHead(200, [
  ['Content-Type', 'text/event-stream'],
  ['Transfer-Encoding', 'chunked'],
])

/** One chunk of the chunked coding (RFC 9112 §7.1); `extension` includes its semicolon. */
export function chunkFrame(data: string | Uint8Array, extension = ''): Buffer {
  const bytes = Buffer.from(data)
  return Buffer.concat([
    Buffer.from(`${bytes.length.toString(16)}${extension}\r\n`),
    bytes,
    Buffer.from('\r\n'),
  ])
}

/** The chunk that ends a chunked body, with trailers if given. */
export function lastChunk(trailers: HeaderLines = []): Buffer {
  return Buffer.from(
    `0\r\n${trailers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
    'latin1',
  )
}

/** Cuts bytes into pieces of the given sizes, the sizes repeating; `[1]` gives single bytes. */
export function splitBytes(data: string | Uint8Array, sizes: readonly number[]): Buffer[] {
  const bytes = Buffer.from(data)
  const pieces: Buffer[] = []
  for (let from = 0, i = 0; from < bytes.length; i++) {
    const size = Math.max(1, sizes[i % sizes.length] ?? 1)
    pieces.push(bytes.subarray(from, from + size))
    from += size
  }
  return pieces
}

/** One server-sent event; an object is sent as JSON. `newline` may be `\r\n` or `\r`. */
export function sseEvent(data: unknown, newline = '\n'): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  return `data: ${text}${newline}${newline}`
}

export interface BodyReplyOptions {
  readonly status?: number
  /** Sent before those that frame the body. */
  readonly headers?: HeaderLines
  /** How the body is delimited; with `until-close` the connection ends after it. */
  readonly framing?: 'content-length' | 'chunked' | 'until-close'
}

/** A whole answer: the head, then each piece in its own write (and its own chunk, when chunked). */
export function bodyReply(
  pieces: readonly (string | Uint8Array)[],
  options: BodyReplyOptions = {},
): ReplyStep[] {
  const buffers = pieces.map((piece) => Buffer.from(piece))
  const framing = options.framing ?? 'chunked'
  const length = buffers.reduce((sum, piece) => sum + piece.length, 0)
  const delimiter = {
    'content-length': ['Content-Length', String(length)],
    chunked: ['Transfer-Encoding', 'chunked'],
    'until-close': ['Connection', 'close'],
  } as const
  const head = responseHead(options.status ?? 200, [...(options.headers ?? []), delimiter[framing]])
  if (framing === 'chunked')
    return writeEach([head, ...buffers.map((piece) => chunkFrame(piece)), lastChunk()])
  return [...writeEach([head, ...buffers]), ...(framing === 'until-close' ? [cut()] : [])]
}

/** A JSON answer with its length, head and body in one write. */
export function jsonReply(status: number, value: unknown, headers: HeaderLines = []): ReplyStep[] {
  const body = Buffer.from(JSON.stringify(value))
  const head = responseHead(status, [
    ['Content-Type', 'application/json'],
    ...headers,
    ['Content-Length', String(body.length)],
  ])
  return [write(Buffer.concat([head, body]))]
}
