import type { PayloadToolCall } from '../../api/raw-log.ts'
import { formatCallId } from '../../call/call-id.ts'
import { maskKeys } from '../../secrets/key-shapes.ts'
import { headerOf } from '../../lib/http/header-list.ts'
import { remembered } from '../../lib/remembered.ts'
import { type BodyText, readBody } from './body-text.ts'
import { maskPath } from './mask-path.ts'
import type { RawAnswer, RawRequest } from './raw-payload.ts'
import { headerRedaction } from './redact-headers.ts'
import { type StreamForm, streamEvents, streamForm } from './stream-events.ts'
import { readStreamText, type StreamText } from './stream-text.ts'

/** The settings for composing records. */
export interface ComposeOptions {
  /** The salt of the installation: see `gateway-parts.ts`. */
  readonly salt: Uint8Array
  /** Most bytes of a decoded body: `--raw-log-max-body-kb`. */
  readonly maxBodyBytes: number
}

/** Most characters of a text whose result is cached. */
const longestRemembered = 500

/**
 * Composes lines of the raw log from the payloads of a call, without credentials. A line is a JSON object
 * without a line break.
 */
export class RecordComposer {
  readonly #maxBodyBytes: number
  readonly #headers: ReturnType<typeof headerRedaction>
  /** Caches of texts that repeat from call to call: methods, paths, models. */
  readonly #paths = remembered((path) => JSON.stringify(maskPath(path)), longestRemembered)
  readonly #words = remembered((word) => JSON.stringify(maskKeys(word)), longestRemembered)

  constructor({ salt, maxBodyBytes }: ComposeOptions) {
    this.#maxBodyBytes = maxBodyBytes
    this.#headers = headerRedaction(salt)
  }

  /** The feed's event of a call that begins. */
  composeStarted(raw: Pick<RawRequest, 'callId' | 'wallTimeMs' | 'method' | 'path'>): string {
    return `{"type":"started","id":"${formatCallId(raw.callId)}","timestamp":"${isoTime(raw.wallTimeMs)}","method":${JSON.stringify(raw.method)},"path":${this.#paths(raw.path)}}`
  }

  composeRequest(raw: RawRequest, seq: number): string {
    const announced = Number(headerOf(raw.headers, 'content-length') ?? Number.NaN)
    const body = readBody(raw, {
      contentEncoding: headerOf(raw.headers, 'content-encoding'),
      maxBytes: this.#maxBodyBytes,
      isCutOff: raw.totalBytes < announced,
      isStream: false,
    })
    return `${this.#head(raw, seq, 'incoming', null)}${bodyFields(body, null)}${this.#tail(raw, body.truncated)}}`
  }

  composeAnswer(raw: RawAnswer, seq: number): string {
    const type = headerOf(raw.headers, 'content-type')?.trim().toLowerCase() ?? ''
    const isCutOff = mayBeCutOff(raw.outcome)
    const body = readBody(raw, {
      contentEncoding: headerOf(raw.headers, 'content-encoding'),
      maxBytes: this.#maxBodyBytes,
      isCutOff,
      isStream: streamForm(type, '') !== null,
    })
    const form = streamForm(type, body.text?.raw ?? '')
    const put =
      form === null || body.text === null ? null : putTogether(body.text, form, body.truncated || isCutOff)
    const chunks = form === null ? '' : `,"chunks":[${raw.chunkOffsetsMs.map(rounded).join(',')}]`
    return `${this.#head(raw, seq, 'outgoing', raw.status)}${bodyFields(body, put?.withheld ?? null)}${this.#tail(raw, body.truncated)},"outcome":${this.#word(raw.outcome)},"failure_code":${this.#word(raw.failureCode)},"duration_ms":${rounded(raw.durationMs)}${chunks}${put?.fields ?? ''}}`
  }

  #head(raw: RawRequest, seq: number, direction: string, status: number | null): string {
    return `{"id":"${formatCallId(raw.callId)}","seq":${seq},"timestamp":"${isoTime(raw.wallTimeMs)}","direction":"${direction}","method":${this.#word(raw.method)},"path":${this.#paths(raw.path)},"status":${status},"headers":${this.#headers(raw.headers)}`
  }

  #tail(raw: RawRequest, truncated: boolean): string {
    return `,"body_bytes":${raw.totalBytes},"truncated":${truncated},"model":${this.#word(raw.model)},"stream":${raw.stream}`
  }

  #word(word: string | null): string {
    return word === null ? 'null' : this.#words(word)
  }
}

interface PutTogether {
  /** JSON text of the fields, each with its comma. */
  readonly fields: string
  /** Why the body may not be shown. */
  readonly withheld: string | null
}

/**
 * The text of a stream, put together. If masking the text finds more than masking the pieces, a credential is
 * spread over several events. The pieces of the credential would show in the body, so the body is withheld.
 */
function putTogether(
  { raw, masked }: { readonly raw: string; readonly masked: string },
  form: StreamForm,
  isCut: boolean,
): PutTogether {
  const { streamText, all } = streamTextIn(raw, form)
  const clean = all.map((text) => maskKeys(text, isCut))
  let isSpread = all.some((text, i) => text !== clean[i])
  if (isSpread && masked !== raw) {
    const before = streamTextIn(masked, form).all
    isSpread = before.length !== clean.length || before.some((text, i) => text !== clean[i])
  }
  const calls = streamText.toolCalls.map((call) => toolCallJson(call, isCut))
  return {
    fields: `,"text":${shown(streamText.text, isCut)},"reasoning":${shown(streamText.reasoning, isCut)},"tool_calls":[${calls.join(',')}]`,
    withheld: isSpread ? 'a credential was split over several events' : null,
  }
}

/** The text of the stream, and all texts that a reader could reassemble. */
function streamTextIn(
  text: string,
  form: StreamForm,
): { readonly streamText: StreamText; readonly all: readonly string[] } {
  const { objects, others } = streamEvents(text, form)
  const streamText = readStreamText(objects)
  return { streamText, all: [...streamText.all, others] }
}

function toolCallJson(call: PayloadToolCall, isCut: boolean): string {
  return `{"id":${shown(call.id, false)},"name":${shown(call.name, false)},"arguments":${shown(call.arguments, isCut)}}`
}

function shown(text: string | null, isCut: boolean): string {
  return text === null ? 'null' : JSON.stringify(maskKeys(text, isCut))
}

function bodyFields(body: BodyText, withheld: string | null): string {
  const why = withheld ?? body.withheld
  if (why !== null) return `,"body":null,"body_withheld":${JSON.stringify(why)}`
  return `,"body":${body.json}${body.encoding === null ? '' : `,"body_encoding":"${body.encoding}"`}`
}

/** True if an answer with this outcome may be incomplete. An upstream's error is a complete answer. */
function mayBeCutOff(outcome: string): boolean {
  return outcome !== 'ok' && outcome !== 'upstream_error' && outcome !== 'refused'
}

/** Milliseconds with one decimal, as JSON text; `null` for a number that is not finite. */
function rounded(ms: number): string {
  if (!Number.isFinite(ms)) return 'null'
  const tenths = Math.round(ms * 10)
  // Whole numbers are formatted much faster than fractions, and each chunk needs one.
  if (tenths < 0 || tenths % 10 === 0) return String(tenths / 10)
  return `${Math.floor(tenths / 10)}.${tenths % 10}`
}

function isoTime(wallTimeMs: number): string {
  return new Date(wallTimeMs).toISOString()
}
