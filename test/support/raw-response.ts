/** One HTTP/1 response, taken from exact bytes without judging them. */
export interface RawResponse {
  readonly status: number
  readonly reason: string
  readonly httpVersion: string
  /** Name, value, name value …, as they stand. */
  readonly rawHeaders: readonly string[]
  readonly framing: 'none' | 'content-length' | 'chunked' | 'until-close'
  /** The body without its transfer coding, as far as it came. */
  readonly body: Buffer
  /** Sizes of the chunks of a chunked body. */
  readonly chunkSizes: readonly number[]
  /** Raw trailer lines, name and value in turn. */
  readonly trailers: readonly string[]
  /** Whether the message came to its end; one that lasts until the close is never known to have. */
  readonly complete: boolean
  /** Bytes from the start of `bytes` to the end of this message. */
  readonly byteLength: number
  header(name: string): string | undefined
}

const statusLine = /^HTTP\/(\d\.\d) (\d{3}) ?(.*)$/

/**
 * The response at the start of `bytes`, or `undefined` while its head is not there. `method` tells whether
 * a body follows. Interim (1xx) answers are responses of their own.
 */
export function parseRawResponse(bytes: Buffer, method = 'GET'): RawResponse | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const [first, ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n')
  const match = statusLine.exec(first!)
  if (match === null) throw new Error(`not a status line: ${first}`)
  const status = Number(match[2])
  const rawHeaders = lines.flatMap(splitHeader)
  const header = (name: string): string | undefined => {
    const at = rawHeaders.findIndex((text, i) => i % 2 === 0 && text.toLowerCase() === name.toLowerCase())
    return at < 0 ? undefined : rawHeaders[at + 1]
  }
  const head = { status, reason: match[3]!, httpVersion: match[1]!, rawHeaders, header }
  const from = headEnd + 4
  const whole = { chunkSizes: [], trailers: [] }
  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) {
    return { ...head, ...whole, framing: 'none', body: Buffer.alloc(0), complete: true, byteLength: from }
  }
  if (/(?:^|, )chunked$/i.test(header('transfer-encoding') ?? ''))
    return { ...head, ...readChunks(bytes, from) }
  const lengthText = header('content-length')
  if (lengthText === undefined) {
    const body = bytes.subarray(from)
    return { ...head, ...whole, framing: 'until-close', body, complete: false, byteLength: bytes.length }
  }
  const body = bytes.subarray(from, from + Number(lengthText))
  const complete = body.length === Number(lengthText)
  return { ...head, ...whole, framing: 'content-length', body, complete, byteLength: from + body.length }
}

function splitHeader(line: string): [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon), line.slice(colon + 1).trim()]
}

type ChunkedPart = Pick<RawResponse, 'body' | 'chunkSizes' | 'trailers' | 'complete' | 'byteLength'> & {
  readonly framing: 'chunked'
}

function readChunks(bytes: Buffer, from: number): ChunkedPart {
  const pieces: Buffer[] = []
  const chunkSizes: number[] = []
  let at = from
  const result = (complete: boolean, trailers: string[] = []): ChunkedPart => {
    const byteLength = complete ? at : bytes.length
    return { framing: 'chunked', body: Buffer.concat(pieces), chunkSizes, trailers, complete, byteLength }
  }
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd < 0) return result(false)
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    if (Number.isNaN(size)) throw new Error(`not a chunk size at byte ${at}`)
    if (size === 0) {
      const trailers: string[] = []
      for (at = lineEnd + 2; ;) {
        const end = bytes.indexOf('\r\n', at)
        if (end < 0) return result(false, trailers)
        const line = bytes.toString('latin1', at, end)
        at = end + 2
        if (line === '') return result(true, trailers)
        trailers.push(...splitHeader(line))
      }
    }
    const piece = bytes.subarray(lineEnd + 2, lineEnd + 2 + size)
    pieces.push(piece)
    chunkSizes.push(size)
    at = lineEnd + 2 + size + 2
    if (bytes.length < at) return result(false)
  }
}
