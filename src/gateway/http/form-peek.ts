import { noBytes } from '../../lib/byte-gather.ts'
import { type RequestFacts, noFacts } from './request-peek.ts'

/** Most bytes of a part's head, and of a field's value, that are read. */
const longestHead = 8192
/** Most bytes of a value that is read. */
const longestValue = 512
/** Some clients end lines with only LF, which Go accepts. */
const headEnd = /\n\r?\n/
const fieldNames = ['model', 'stream', 'user'] as const

type FieldName = (typeof fieldNames)[number]

/** The boundary of a multipart body (RFC 2046 §5.1.1); null for a body of another type. */
export function boundaryOf(contentType: string | null): string | null {
  if (contentType === null || !/^\s*multipart\/form-data\b/i.test(contentType)) return null
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(contentType) ?? []
  return quoted ?? plain ?? null
}

/** Reads the needed fields of a form (RFC 7578), chunk by chunk, and skips its files. */
export class FormPeek {
  readonly #delimiter: Buffer
  readonly #valueEnd: Buffer
  #state: 'between' | 'head' | 'value' | 'over' = 'between'
  #field: FieldName | null = null
  /** The beginning of an incomplete delimiter, head or value. */
  #pending = noBytes
  readonly #fields: { [name in FieldName]?: string } = {}

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`--${boundary}`, 'latin1')
    this.#valueEnd = Buffer.from(`\n--${boundary}`, 'latin1')
  }

  push(chunk: Uint8Array): void {
    let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    while (rest.length > 0 && this.#state !== 'over')
      rest = this.#state === 'between' ? this.#skip(rest) : this.#read(rest)
  }

  /** The facts in the bytes so far. */
  result(): RequestFacts {
    const { model = null, stream, user = null } = this.#fields
    return { ...noFacts, model, stream: stream === 'true', user }
  }

  /** Skips a field that is not needed, without copying it. Returns the bytes after the next delimiter. */
  #skip(bytes: Buffer): Buffer {
    const delimiter = this.#delimiter
    const size = this.#pending.length
    const seam = size === 0 ? bytes : Buffer.concat([this.#pending, bytes.subarray(0, delimiter.length)])
    const atSeam = size === 0 ? -1 : seam.indexOf(delimiter)
    // A delimiter that began in an earlier chunk starts before these bytes, so `at` may be negative.
    const at = atSeam < 0 ? bytes.indexOf(delimiter) : atSeam - size
    if (atSeam < 0 && at < 0) {
      const last = size > 0 && bytes.length < delimiter.length ? seam : bytes
      this.#pending = Buffer.from(last.subarray(Math.max(0, last.length - delimiter.length + 1)))
      return noBytes
    }
    this.#pending = noBytes
    this.#state = 'head'
    return bytes.subarray(at + delimiter.length)
  }

  /** Reads the head of a part or the value of a field, and returns the bytes after it. A longer part is skipped. */
  #read(bytes: Buffer): Buffer {
    const isHead = this.#state === 'head'
    const all = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes])
    // Two hyphens follow the last delimiter.
    if (isHead && all.length >= 2 && all[0] === 0x2d && all[1] === 0x2d) {
      this.#state = 'over'
      return all
    }
    const ended = isHead ? headEnd.exec(all.toString('latin1', 0, longestHead)) : null
    const end = isHead ? (ended?.index ?? -1) : all.indexOf(this.#valueEnd)
    const longest = isHead ? longestHead : longestValue + this.#delimiter.length
    if (end < 0 && all.length <= longest) {
      this.#pending = Buffer.from(all)
      return noBytes
    }
    this.#pending = noBytes
    if (ended !== null) {
      this.#field = fieldIn(all.toString('latin1', 0, end))
      this.#state = this.#field === null ? 'between' : 'value'
      return all.subarray(end + ended[0].length)
    }
    if (end >= 0 && end <= longestValue && this.#field !== null) {
      this.#fields[this.#field] ??= all.toString('utf8', 0, end).trim()
    }
    this.#state = 'between'
    return all
  }
}

/** The field that a part's head names; null for a file, and for a field that is not needed. */
function fieldIn(head: string): FieldName | null {
  if (/;\s*filename\*?=/i.test(head)) return null
  const [, quoted, plain] =
    /^content-disposition:[^\r\n]*;\s*name=(?:"([^"\r\n]*)"|([^\s;]+))/im.exec(head) ?? []
  return fieldNames.find((name) => name === (quoted ?? plain)) ?? null
}
