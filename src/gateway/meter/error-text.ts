import { asBuffer, ByteGather } from '../../lib/byte-gather.ts'
import { longestLooked } from '../../call/error-message.ts'

/** Bytes for the longest message that is read, in any script. */
const longestBytes = 4 * longestLooked

/** The message of an error whose body is plain text, such as those of proxies. */
export class ErrorText {
  readonly #begin = new ByteGather()

  data(chunk: Uint8Array): void {
    const bytes = asBuffer(chunk)
    this.#begin.append(bytes, 0, Math.min(bytes.length, longestBytes - this.#begin.length))
  }

  /** The message, cut to the length that masking needs; may contain secrets. `null` if empty. */
  get message(): string | null {
    const text = this.#begin.bytes.toString('utf8', 0, this.#begin.length).trim()
    return text === '' ? null : text.slice(0, longestLooked)
  }
}
