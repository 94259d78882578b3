import { isObject } from '../../lib/message-shape.ts'
import { JsonScan, jsonOrUndefined, tooLong, wantedPlaces } from '../../json/json-scan.ts'
import { Utf8Copy } from './utf8-copy.ts'

/** A value in the body, and its place in bytes from the body's begin; `end` is exclusive. */
export interface BodyValue {
  readonly start: number
  readonly end: number
  /** The parsed value; `undefined` if it is no JSON. */
  readonly value: unknown
}

/** The fields of a request's body that the gateway reads. The last of duplicate keys counts, as in `JSON.parse`. */
export interface RequestFacts {
  /** True if the body is a complete JSON object without a content coding. Only then are the places valid. */
  readonly isObject: boolean
  readonly model: string | null
  /** The place of the value; null if it is missing. */
  readonly modelPlace: BodyValue | null
  /** True if the member `stream` is `true`. */
  readonly stream: boolean
  /** Offset of the first byte that is not white space. */
  readonly firstAt: number
  /** The member `stream_options`, also with the value `null`; `null` if it is missing. */
  readonly streamOptions: BodyValue | null
  /** True if `stream_options` has an `include_usage` of any value, or is too long to read. */
  readonly hasIncludeUsage: boolean
  /**
   * Output tokens that the request allows, over all choices. If a request has several bounds, the highest counts,
   * because upstreams differ in which they read. 0 without a bound; `Infinity` for a bound that cannot be computed.
   */
  readonly tokensAsked: number
  /** `prompt_cache_key`, which agents keep for a whole run. */
  readonly promptCacheKey: string | null
  readonly user: string | null
  readonly safetyIdentifier: string | null
  /** The parsed value; `undefined` if it is absent, too long, or no JSON. */
  readonly metadata: unknown
  /** True if the body is in a coding that cannot be decoded. */
  readonly isUnreadable: boolean
}

/** Most bytes of a session that are read, with its quotes. */
const session = 202

/** The wanted members of a body, each with the most bytes that are read. */
const places = wantedPlaces(
  {
    model: 512,
    /** A batch of Messages, and a secret for a realtime client. */
    requests: { '[]': { params: { model: 512 } } },
    session: { model: 512 },
    stream: 32,
    stream_options: 4096,
    max_tokens: 32,
    max_completion_tokens: 32,
    max_output_tokens: 32,
    max_new_tokens: 32,
    n_predict: 32,
    options: { num_predict: 32 },
    generationConfig: { maxOutputTokens: 32 },
    n: 32,
    best_of: 32,
    prompt: { '[]': 0 },
    prompt_cache_key: session,
    user: 512,
    safety_identifier: 512,
    metadata: 16 * 1024,
  },
  true,
)
/** Members that limit the output tokens of one choice, at some upstream. */
const bounds: ReadonlySet<string> = new Set([
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'max_new_tokens',
  'n_predict',
  'options.num_predict',
  'generationConfig.maxOutputTokens',
])
/** Places of a model inside a body that does not name one at the top. */
const innerModels = ['requests[].params.model', 'session.model'] as const

/** Reads the fields that the gateway needs from a request's body, chunk by chunk as it arrives. */
export class RequestPeek {
  readonly #scan = new JsonScan(places, (path, text, start, end, isScalar) =>
    this.#note(path, text, start, end, isScalar),
  )
  /** Converts a body that may be in another encoding to UTF-8; null for any other body, and before its first bytes. */
  #converter: Utf8Copy | null = null
  /** Bytes of the body so far. */
  #bytes = 0
  /** The first byte that is not white space; 0 before it. */
  #first = 0
  #firstAt = 0
  readonly #values: Record<string, BodyValue | undefined> = {}
  /** The highest bound so far, because upstreams differ in which they read. */
  #tokens = 0
  #choices = 1
  /** Number of prompts: texts, or lists of tokens, each of which is completed separately. */
  #prompts = 0

  push(chunk: Uint8Array): void {
    if (this.#bytes === 0 && !beginsInAscii(chunk)) this.#converter = new Utf8Copy()
    this.#bytes += chunk.length
    this.#read(this.#converter === null ? chunk : this.#converter.take(chunk))
  }

  #read(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    if (this.#first === 0) {
      const at = bytes.findIndex(isNoSpace)
      this.#firstAt += at < 0 ? bytes.length : at
      this.#first = bytes[at] ?? 0
    }
    this.#scan.push(bytes)
  }

  /** The fields found so far; final once all bytes have been pushed. */
  result(): RequestFacts {
    if (this.#converter !== null) this.#read(this.#converter.end())
    const isSame = this.#converter?.isSame ?? true
    const { model, stream, stream_options: streamOptions = null, metadata, user } = this.#values
    const options = streamOptions?.value
    const isUnread = options === undefined || options === tooLong
    return {
      isObject: isSame && isObject(this.#scan.value),
      model: textOf(model ?? this.#values[innerModels[0]] ?? this.#values[innerModels[1]]),
      modelPlace: isSame ? (model ?? null) : null,
      stream: stream?.value === true,
      firstAt: this.#markBytes + this.#firstAt,
      streamOptions: isSame ? streamOptions : null,
      hasIncludeUsage:
        streamOptions !== null && (isUnread || (isObject(options) && 'include_usage' in options)),
      tokensAsked: this.#tokens === 0 ? 0 : this.#tokens * this.#choices * Math.max(1, this.#prompts),
      promptCacheKey: textOf(this.#values['prompt_cache_key']),
      user: textOf(user),
      safetyIdentifier: textOf(this.#values['safety_identifier']),
      metadata: metadata?.value,
      isUnreadable: false,
    }
  }

  #note(path: string, text: string | null, start: number, end: number, isScalar: boolean): void {
    if (path === 'prompt[]') {
      if (!isScalar) this.#prompts++
      return
    }
    const value = text === null ? tooLong : jsonOrUndefined(text)
    if (bounds.has(path)) this.#tokens = Math.max(this.#tokens, countAsked(value))
    else if (path === 'n' || path === 'best_of') this.#choices = Math.max(this.#choices, countAsked(value))
    else this.#values[path] = { start: this.#markBytes + start, end: this.#markBytes + end, value }
  }

  get #markBytes(): number {
    return this.#converter?.markBytes ?? 0
  }
}

/** The fields of a coded body, from a decoded copy (`copy` is null if decoding failed). */
export function factsOfCopy(copy: RequestFacts | null, asItCame: RequestFacts): RequestFacts {
  // Some upstreams ignore the coding.
  if (asItCame.isObject) return asItCame
  if (copy === null) return { ...asItCame, isUnreadable: true }
  return { ...copy, isObject: false, modelPlace: null, streamOptions: null }
}

function textOf(value: BodyValue | undefined): string | null {
  return typeof value?.value === 'string' ? value.value : null
}

/** A bound as upstreams read it, also as digits in quotes; 0 if it is no bound. */
function countAsked(value: unknown): number {
  const count = typeof value === 'string' ? Number(value.replaceAll('_', '')) : value
  if (typeof count !== 'number' || !(count > 0)) return 0
  return count > Number.MAX_SAFE_INTEGER ? Infinity : Math.ceil(count)
}

/** True if four ASCII characters begin the text, so that it is UTF-8 without a byte order mark. */
function beginsInAscii(bytes: Uint8Array): boolean {
  for (let at = 0; at < 4; at++) {
    const byte = bytes[at] ?? 0
    if (byte === 0 || byte > 0x7f) return false
  }
  return true
}

function isNoSpace(byte: number): boolean {
  return byte > 0x20
}

/** The fields of an empty body. */
export const noFacts: RequestFacts = new RequestPeek().result()
