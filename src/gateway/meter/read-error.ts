import { longestLooked } from '../../call/error-message.ts'
import { asBuffer, ByteGather } from '../../lib/byte-gather.ts'
import { type Fields, fields } from '../../lib/message-shape.ts'

/** An upstream's error. */
export interface ReportedError {
  /** The error's code if it is a word, or a number that differs from the HTTP status; else the error's type. */
  readonly code: string | null
  /** The message, cut to the length that masking needs; may contain secrets. */
  readonly message: string | null
}

/** Most characters of an upstream's error code. */
const longestCode = 100
/** Bytes for the longest message that is read, in any script. */
const longestBytes = 4 * longestLooked

/**
 * Reads the error in a parsed body or event: `{"error":{…}}`, `{"error":"text"}`, an array of these, the
 * Responses API's `{"response":{"error":…}}`, Groq's `x_groq.error`, OpenRouter's error of a choice, a bare
 * `{"message","type","code"}`, FastAPI's `detail`, also within Mistral's `message`.
 */
export function readError(parsed: unknown, status: number): ReportedError {
  const top = fields(Array.isArray(parsed) ? parsed[0] : parsed)
  const nested =
    top['error'] ??
    fields(top['response'])['error'] ??
    fields(top['x_groq'])['error'] ??
    choiceError(top['choices'])
  const error = typeof nested === 'object' && nested !== null ? fields(nested) : top
  const spoken =
    typeof nested === 'string'
      ? nested
      : (text(error['message']) ??
        text(error['msg']) ??
        detail(top['detail']) ??
        detail(fields(error['message'])['detail']))
  return {
    code: cut(codeOf(error, top, status), longestCode),
    message: cut(spoken, longestLooked),
  }
}

function codeOf(error: Fields, top: Fields, status: number): string | null {
  const code = error['code']
  if (typeof code === 'string' && code !== '' && code !== String(status)) return code
  if (typeof code === 'number' && code !== status) return String(code)
  // The `type` of the surrounding event or message does not describe the error.
  const type = error === top && (top['type'] === 'error' || top['error'] !== undefined) ? null : error['type']
  return text(type) ?? text(top['error_type'])
}

function choiceError(choices: unknown): unknown {
  if (!Array.isArray(choices)) return undefined
  return choices
    .map((choice) => fields(choice)['error'])
    .find((error) => error !== undefined && error !== null)
}

function detail(value: unknown): string | null {
  if (typeof value === 'string') return value
  const first = fields(Array.isArray(value) ? value[0] : value)
  return text(first['msg']) ?? text(first['message'])
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function cut(value: string | null, length: number): string | null {
  return value === null ? null : value.slice(0, length)
}

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
