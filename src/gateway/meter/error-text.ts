import { asBuffer, ByteGather } from '../../lib/byte-gather.ts'
import { longestLooked } from '../../call/error-message.ts'

/** Enough bytes for the longest message that is read, in any script. */
const longestBytes = 4 * longestLooked

/** The words of an error whose body is plain text, as proxies on the way send them. */
export class ErrorText {
  readonly #begin = new ByteGather()

  data(chunk: Uint8Array): void {
    const bytes = asBuffer(chunk)
    this.#begin.append(bytes, 0, Math.min(bytes.length, longestBytes - this.#begin.length))
  }

  /** The message, cut to a length that is enough for later steps; may contain secrets. `null` if empty. */
  get message(): string | null {
    const text = this.#begin.bytes.toString('utf8', 0, this.#begin.length).trim()
    return text === '' ? null : text.slice(0, longestLooked)
  }
}
