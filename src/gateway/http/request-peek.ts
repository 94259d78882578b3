import { isObject } from '../../lib/message-shape.ts'
import { JsonPeek, type JsonPeekReceiver } from '../../json/json-peek.ts'
import { parsePiece, stringPiece } from '../../json/json-piece.ts'
import { compilePlaces } from '../../json/json-place.ts'

/** A value in the body, and where it stands, in bytes from the body's begin; `end` is exclusive. */
export interface BodyValue {
  readonly start: number
  readonly end: number
  /** As parsed; `undefined` if it is no JSON. */
  readonly value: unknown
}

/** What the gateway wants to know of a request's body. Of duplicate keys the last counts, as in `JSON.parse`. */
export interface RequestFacts {
  /** Whether the body is one whole JSON object; all else here is only trustworthy where it is. */
  readonly isObject: boolean
  readonly model: string | null
  /** Where it stands; `null` if it is not there. */
  readonly modelPlace: BodyValue | null
  /** `stream` is `true`. */
  readonly stream: boolean
  /** Offset of the first byte that is not white space. */
  readonly firstAt: number
  /** `stream_options`, be its value `null`; `null` if it is not there. */
  readonly streamOptions: BodyValue | null
  /** Whether `stream_options` has an `include_usage`, whatever its value, or is too long to tell. */
  readonly hasIncludeUsage: boolean
  /**
   * Output tokens that the request allows, over all choices that it asks for; of several bounds the highest, as
   * upstreams differ in which they read. 0 if it sets none, `Infinity` if it sets one that nobody can count.
   */
  readonly tokensAsked: number
  /** `prompt_cache_key`, which agents keep for a whole run. */
  readonly promptCacheKey: string | null
  readonly user: string | null
  readonly safetyIdentifier: string | null
  /** As parsed; `undefined` if it is not there, too long, or no JSON. */
  readonly metadata: unknown
}

/** Longest session that is read, with its quotes. */
const session = 202

/** The members of a body that are wanted, and how many bytes of each at most. */
const limits = {
  model: 512,
  stream: 32,
  stream_options: 4096,
  max_tokens: 32,
  max_completion_tokens: 32,
  max_output_tokens: 32,
  n: 32,
  best_of: 32,
  prompt_cache_key: session,
  user: 512,
  safety_identifier: 512,
  metadata: 16 * 1024,
} as const
const names = Object.keys(limits) as (keyof typeof limits)[]
const places = compilePlaces(Object.entries(limits).map(([path, limit], id) => ({ path, id, limit })))

/** In place of a value that is too long to be read: of the numbers, one beyond counting. */
const tooLong = Infinity
const openBrace = 0x7b

/** Reads off a request's body, chunk by chunk as it comes, what the gateway wants to know of it. */
export class RequestPeek implements JsonPeekReceiver {
  readonly #peek: JsonPeek = new JsonPeek(places, this)
  /** The first byte that is not white space; 0 before it. */
  #first = 0
  #firstAt = 0
  readonly #found: { -readonly [name in keyof typeof limits]?: BodyValue } = {}

  push(chunk: Uint8Array): void {
    if (this.#first === 0) {
      const at = chunk.findIndex(isNoSpace)
      this.#firstAt += at < 0 ? chunk.length : at
      this.#first = chunk[at] ?? 0
    }
    this.#peek.push(chunk)
  }

  /** What the bytes so far say; final once all have been pushed. */
  result(): RequestFacts {
    const { model, stream, stream_options: streamOptions = null, metadata } = this.#found
    const options = streamOptions?.value
    const isUnread = options === undefined || options === tooLong
    return {
      isObject: this.#peek.complete && this.#first === openBrace,
      model: textOf(model),
      modelPlace: model ?? null,
      stream: stream?.value === true,
      firstAt: this.#firstAt,
      streamOptions,
      hasIncludeUsage:
        streamOptions !== null && (isUnread || (isObject(options) && 'include_usage' in options)),
      tokensAsked: this.#tokensAsked(),
      promptCacheKey: textOf(this.#found.prompt_cache_key),
      user: textOf(this.#found.user),
      safetyIdentifier: textOf(this.#found.safety_identifier),
      metadata: metadata?.value,
    }
  }

  value(which: number, bytes: Buffer, start: number, end: number): void {
    const read = names[which] === 'model' ? stringPiece : parsePiece
    this.#note(which, end - start, read(bytes, start, end))
  }

  tooLong(which: number): void {
    this.#note(which, 0, tooLong)
  }

  #note(which: number, length: number, value: unknown): void {
    const name = names[which]
    const start = this.#peek.valueOffset
    if (name !== undefined) this.#found[name] = { start, end: start + length, value }
  }

  #tokensAsked(): number {
    const asked = (name: keyof typeof limits): number => countAsked(this.#found[name]?.value)
    const each = Math.max(asked('max_tokens'), asked('max_completion_tokens'), asked('max_output_tokens'))
    return each === 0 ? 0 : each * Math.max(1, asked('n'), asked('best_of'))
  }
}

function textOf(found: BodyValue | undefined): string | null {
  return typeof found?.value === 'string' ? found.value : null
}

/** A count as upstreams read it, who take digits in quotes, too; 0 if it bounds nothing. */
function countAsked(value: unknown): number {
  const count = typeof value === 'string' ? Number(value.replaceAll('_', '')) : value
  if (typeof count !== 'number' || !(count > 0)) return 0
  return count > Number.MAX_SAFE_INTEGER ? Infinity : Math.ceil(count)
}

function isNoSpace(byte: number): boolean {
  return byte > 0x20
}
