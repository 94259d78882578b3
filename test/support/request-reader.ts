/** How a request's body is delimited on the wire (RFC 9112 §6.3). */
export type RequestFraming = 'none' | 'content-length' | 'chunked'

/** The head of a request exactly as it came. */
export interface RequestHead {
  readonly method: string
  /** Byte for byte, neither decoded nor normalised. */
  readonly target: string
  /** `1.0` or `1.1`. */
  readonly httpVersion: string
  /** Name, value, name, value …, order, case and duplicates kept. */
  readonly rawHeaders: readonly string[]
  readonly framing: RequestFraming
  readonly bytes: Buffer
}

/** Where the reader's findings go. */
export interface RequestEvents {
  head(head: RequestHead): void
  /** Body bytes with their transfer coding taken off. */
  body(bytes: Buffer): void
  end(): void
  /** The bytes are no request; nothing more is reported. */
  broken(reason: string): void
}

type State = 'head' | 'fixed' | 'chunk-size' | 'chunk-data' | 'chunk-end' | 'trailers' | 'broken'

const headEnd = Buffer.from('\r\n\r\n')
const lineEnd = Buffer.from('\r\n')
const nothing = Buffer.alloc(0)

/** The last value of a header in a raw list, by its name in any case. */
export function rawHeader(rawHeaders: readonly string[], name: string): string | undefined {
  const wanted = name.toLowerCase()
  let found: string | undefined
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.toLowerCase() === wanted) found = rawHeaders[i + 1]
  }
  return found
}

/**
 * Reads HTTP/1 requests from bytes in any splits and keeps what a full server throws away: raw header
 * lines and how the body was framed. Strict about line ends, so that a sloppy sender is noticed.
 */
export class RequestReader {
  readonly #events: RequestEvents
  #state: State = 'head'
  #held: Buffer = nothing
  /** Bytes still to come of the fixed body or of the chunk. */
  #left = 0

  constructor(events: RequestEvents) {
    this.#events = events
  }

  push(bytes: Buffer): void {
    this.#held = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes])
    while (this.#step());
  }

  /** One state transition; false when more bytes are needed. */
  #step(): boolean {
    switch (this.#state) {
      case 'head':
        return this.#readHead()
      case 'fixed':
        return this.#readBody(() => this.#finish())
      case 'chunk-size':
        return this.#readChunkSize()
      case 'chunk-data':
        return this.#readBody(() => {
          this.#state = 'chunk-end'
        })
      case 'chunk-end': {
        const line = this.#takeLine()
        if (line === undefined) return false
        if (line !== '') return this.#break('a chunk is longer than its size')
        this.#state = 'chunk-size'
        return true
      }
      case 'trailers': {
        const line = this.#takeLine()
        if (line === undefined) return false
        if (line === '') this.#finish()
        return true
      }
      default:
        return false
    }
  }

  #readHead(): boolean {
    const end = this.#held.indexOf(headEnd)
    if (end < 0) return false
    const bytes = this.#take(end + headEnd.length)
    const lines = bytes.toString('latin1', 0, end).split('\r\n')
    const match = /^(\S+) (\S+) HTTP\/(1\.[01])$/.exec(lines[0]!)
    if (match === null) return this.#break(`bad request line: ${lines[0]}`)
    const rawHeaders: string[] = []
    for (const line of lines.slice(1)) {
      const colon = line.indexOf(':')
      if (colon < 1) return this.#break(`bad header line: ${line}`)
      rawHeaders.push(line.slice(0, colon), line.slice(colon + 1).trim())
    }
    const coding = rawHeader(rawHeaders, 'transfer-encoding')
    const length = rawHeader(rawHeaders, 'content-length')
    const framing = coding !== undefined ? 'chunked' : length !== undefined ? 'content-length' : 'none'
    this.#events.head({
      method: match[1]!,
      target: match[2]!,
      httpVersion: match[3]!,
      rawHeaders,
      framing,
      bytes,
    })
    this.#left = framing === 'content-length' ? Number(length) : 0
    if (framing === 'chunked') this.#state = 'chunk-size'
    else if (this.#left > 0) this.#state = 'fixed'
    else this.#finish()
    return true
  }

  #readChunkSize(): boolean {
    const line = this.#takeLine()
    if (line === undefined) return false
    if (!/^[0-9a-fA-F]+(?:;.*)?$/.test(line)) return this.#break(`bad chunk size: ${line}`)
    this.#left = Number.parseInt(line, 16)
    this.#state = this.#left === 0 ? 'trailers' : 'chunk-data'
    return true
  }

  #readBody(done: () => void): boolean {
    if (this.#held.length === 0) return false
    const bytes = this.#take(Math.min(this.#left, this.#held.length))
    this.#left -= bytes.length
    this.#events.body(bytes)
    if (this.#left === 0) done()
    return true
  }

  #finish(): void {
    this.#state = 'head'
    this.#events.end()
  }

  #break(reason: string): false {
    this.#state = 'broken'
    this.#events.broken(reason)
    return false
  }

  #take(length: number): Buffer {
    const bytes = this.#held.subarray(0, length)
    this.#held = this.#held.subarray(length)
    return bytes
  }

  #takeLine(): string | undefined {
    const end = this.#held.indexOf(lineEnd)
    if (end < 0) return undefined
    return this.#take(end + 2).toString('latin1', 0, end)
  }
}
