import { asBuffer, ByteGather } from '../../lib/byte-gather.ts'

/** Enough for the longest message that is kept, in any script. */
const longestBytes = 2000
const longestMessage = 500

/** The words of an error whose body is plain text, as proxies on the way send them. */
export class ErrorText {
  readonly #begin = new ByteGather()

  data(chunk: Uint8Array): void {
    const bytes = asBuffer(chunk)
    this.#begin.append(bytes, 0, Math.min(bytes.length, longestBytes - this.#begin.length))
  }

  /** At most 500 characters; `null` where there is no word. */
  get message(): string | null {
    const text = this.#begin.bytes.toString('utf8', 0, this.#begin.length).trim()
    return text === '' ? null : text.slice(0, longestMessage)
  }
}
