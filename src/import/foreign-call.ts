import { firstIdAt } from '../call/call-id.ts'
import { callTypeCodes } from '../call/fields/call-fields.ts'
import { blankRecord, type CallDraft, type StoredCall } from '../call/call-record.ts'
import type { CallType } from '../call/call.ts'
import { joinedTags, tagText } from '../gateway/call/caller-tags.ts'
import type { FailureCode } from '../call/failure.ts'
import { longestMessage } from '../call/error-message.ts'
import { storedText } from '../gateway/recorder/stored-text.ts'
import { remembered } from '../lib/remembered.ts'

/** A call as another program recorded it. */
export type ForeignCall = Partial<Omit<CallDraft, 'id' | 'index' | 'tags'>> & {
  readonly source: string
  readonly startedAtMs: number
  readonly endpoint: string
  readonly tags?: readonly (readonly [key: string, value: string])[]
}

/** Most characters of a label. */
const longestLabel = 200
const label = remembered((text) => storedText(text, longestLabel), longestLabel)
const texts = ['model', 'responseModel', 'upstream', 'client', 'userAgent', 'session'] as const
const others = ['upstreamErrorCode', 'serviceTier'] as const
/** Most characters of a request id. */
const longestRequestId = 100_000

/** Makes a record of a foreign call, with masked labels, and an id that is only its time. */
export function foreignCall(foreign: ForeignCall): StoredCall {
  const { startedAtMs, tags = [], ...facts } = foreign
  const { source, endpoint, errorMessage = null, inputTokens = null, outputTokens = null } = facts
  const { index: _, ...call } = { ...blankRecord(), ...facts }
  for (const name of [...texts, ...others]) {
    const text = call[name]
    if (text !== null) call[name] = label(text)
  }
  const callType = facts.callType ?? callTypeOf(endpoint)
  const isEmbedding = callType === 'embedding' || callType === 'rerank'
  return {
    ...call,
    id: firstIdAt(Math.floor(startedAtMs)),
    callType,
    method: facts.method ?? (callType === 'props' ? 'GET' : 'POST'),
    endpoint: label(endpointOf(endpoint)),
    instance: source,
    // Embeddings have no output, as in our own rows.
    outputTokens: outputTokens ?? (inputTokens !== null && isEmbedding ? 0 : null),
    upstreamRequestId:
      facts.upstreamRequestId === undefined || facts.upstreamRequestId === null
        ? null
        : storedText(facts.upstreamRequestId, longestRequestId),
    errorMessage: errorMessage === null ? null : storedText(errorMessage, longestMessage),
    usageSource: facts.usageSource ?? (inputTokens === null && outputTokens === null ? 'none' : 'usage'),
    attempts: facts.attempts ?? 1,
    tags: joinedTags([], tags, tagText),
  }
}

function endpointOf(path: string): string {
  const [bare = ''] = path.split('?', 1)
  return bare.startsWith('/') ? bare : `/${bare}`
}

function callTypeOf(endpoint: string): CallType {
  if (/embed/i.test(endpoint)) return 'embedding'
  if (/rerank/i.test(endpoint)) return 'rerank'
  if (/\/props\b/.test(endpoint)) return 'props'
  return /completion|\/messages|\/responses|generateContent|\/api\/chat/i.test(endpoint) ? 'chat' : 'other'
}

/** The call type with this name; undefined for other names. */
export function namedCallType(text: string | null): CallType | undefined {
  return text !== null && Object.hasOwn(callTypeCodes, text) ? (text as CallType) : undefined
}

/** The host of a URL, with its port unless it is the scheme's default; null if the text is no URL. */
export function hostOf(url: string | null): string | null {
  return url === null ? null : (URL.parse(url.includes('://') ? url : `https://${url}`)?.host ?? null)
}

/** The outcome that follows from a call's status. */
export function endOf(
  status: number | null,
  isFailed: boolean,
): Pick<CallDraft, 'outcome' | 'status' | 'failureCode'> {
  if (status === 499) return { status, outcome: 'client_disconnected', failureCode: 'client_gone' }
  if (!isFailed) return { status, outcome: 'ok', failureCode: null }
  return { status, outcome: 'upstream_error', failureCode: failureOf(status) }
}

/** The failure code for a status. Without a status of 400 or above, the upstream sent no answer, or failed within it. */
function failureOf(status: number | null): FailureCode {
  if (status === null) return 'upstream_unreachable'
  return status < 400 ? 'stream_error' : 'upstream_http'
}

/** Milliseconds per output token after the first; null if unknown, or without a stream. */
export function tpotOf(
  outputTokens: number | null,
  firstMs: number | null,
  lastMs: number | null,
): number | null {
  if (outputTokens === null || outputTokens < 2 || firstMs === null || lastMs === null) return null
  return lastMs > firstMs ? (lastMs - firstMs) / (outputTokens - 1) : null
}

/** Dollars as nano-dollars; null for 0, because a free call was most likely never priced. */
export function nanoUsd(dollars: number | null): number | null {
  return dollars === null || dollars === 0 ? null : Math.round(dollars * 1e9)
}
