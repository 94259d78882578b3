import type { RawHeaders, ResponseHead } from '../../call/response-head.ts'
import { headerPairs } from '../../lib/http/header-list.ts'
import { httpDateMs, plainNumber, retryAfterMs } from '../../lib/http/retry-after.ts'

/** The kinds of a provider's limits. Anthropic has separate limits for input and output tokens. */
export type LimitedKind = 'requests' | 'tokens' | 'input_tokens' | 'output_tokens'

/** A limit of a provider, from the head of an answer. */
export interface ReportedLimit {
  readonly kind: LimitedKind
  /** Most within the window; null if the answer does not say. */
  readonly limit: number | null
  readonly remaining: number | null
  /** Milliseconds until the whole limit is left again; null if the answer has no plausible value. */
  readonly resetMs: number | null
  /** Length of the window in milliseconds: a minute, unless the header names another, or the reset is later. */
  readonly windowMs: number
}

type Figure = 'limit' | 'remaining' | 'reset'

const minuteMs = 60_000
const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  second: 1000,
  m: minuteMs,
  minute: minuteMs,
  h: 60 * minuteMs,
  hour: 60 * minuteMs,
  d: 1440 * minuteMs,
  day: 1440 * minuteMs,
  month: 30 * 1440 * minuteMs,
}
/** A reset within this time (ms) may be that of a minute, because providers and clocks round. */
const latestMinuteResetMs = minuteMs + 2000
const longerWindowsMs = [60 * minuteMs, 1440 * minuteMs]
/** The longest window in ms. A longer reset or wait is an error of the provider. */
export const longestWindowMs = 31 * 1440 * minuteMs

const kinds: Readonly<Record<string, LimitedKind>> = {
  '': 'requests',
  req: 'requests',
  requests: 'requests',
  token: 'tokens',
  tokens: 'tokens',
  'input-tokens': 'input_tokens',
  'tokens-prompt': 'input_tokens',
  'output-tokens': 'output_tokens',
  'tokens-generated': 'output_tokens',
}
const kind = '(req|requests|tokens|input-tokens|output-tokens|tokens-prompt|tokens-generated)'

/**
 * Names of headers: `x-ratelimit-remaining-requests` (OpenAI, Azure, Groq, Together), with the window behind it
 * (`…-tokens-minute`, Cerebras, Mistral), without a kind (OpenRouter, draft-ietf-httpapi-ratelimit-headers-06), and
 * `anthropic-ratelimit-input-tokens-remaining`.
 */
const figureFirst = new RegExp(
  `^(?:x-)?ratelimit-(limit|remaining|reset)(?:-${kind})?(?:-(second|minute|hour|day|month))?$`,
)
const kindFirst = new RegExp(`^anthropic-ratelimit-${kind}-(limit|remaining|reset)$`)

type Draft = { -readonly [Member in keyof ReportedLimit]: ReportedLimit[Member] }

/** The beginning of all these names. */
const limitName = /^(?:x-|anthropic-)?ratelimit/i

/** True if an answer may report a limit: most do not. */
export function reportsLimits({ status, headers }: ResponseHead): boolean {
  if (isLimitStatus(status)) return true
  for (let at = 0; at < headers.length; at += 2) if (limitName.test(headers[at] ?? '')) return true
  return false
}

/** True for the status of a provider whose limit is reached, or that has no room. */
export function isLimitStatus(status: number): boolean {
  return status === 429 || status === 529
}

/**
 * Codes of a 429 for a used-up quota, for which waiting does not help: OpenAI
 * (platform.openai.com/docs/guides/error-codes), Moonshot, DeepSeek.
 */
export const finalCodes: ReadonlySet<string> = new Set([
  'insufficient_quota',
  'billing_hard_limit_reached',
  'billing_not_active',
  'exceeded_current_quota_error',
  'insufficient_balance',
])

/**
 * Reads a provider's limits from the head of an answer. If two headers contradict each other, the one that leaves less counts.
 * Values that are no numbers are skipped.
 *
 * @param nowMs Unix time, for resets that are instants; the answer's own `Date` comes first, because this clock may be wrong
 */
export function readLimits(headers: RawHeaders, nowMs: number): readonly ReportedLimit[] {
  const fromMs = httpDateMs(firstValues(headers).get('date')) ?? nowMs
  const drafts = new Map<string, Draft>()
  const note = (of: LimitedKind, windowMs: number, figure: Figure, value: number | null): void => {
    if (value === null) return
    const key = `${of} ${windowMs}`
    let draft = drafts.get(key)
    if (draft === undefined) {
      draft = { kind: of, limit: null, remaining: null, resetMs: null, windowMs }
      drafts.set(key, draft)
    }
    if (figure === 'reset') draft.resetMs = Math.max(draft.resetMs ?? 0, value)
    else draft[figure] = Math.min(draft[figure] ?? Infinity, value)
  }
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] ?? ''
    if (!limitName.test(name)) continue
    const lower = name.toLowerCase()
    const value = headers[at + 1]?.trim() ?? ''
    if (lower === 'ratelimit' || lower === 'ratelimit-policy') {
      readStructured(value, note)
      continue
    }
    const [, early, named = '', window] = figureFirst.exec(lower) ?? []
    const [, first = named, late = early] = kindFirst.exec(lower) ?? []
    const of = kinds[first]
    if (late === undefined || of === undefined) continue
    const figure = late as Figure
    const windowMs = (window === undefined ? undefined : unitMs[window]) ?? minuteMs
    note(of, windowMs, figure, figure === 'reset' ? resetIn(value, fromMs) : count(value))
  }
  for (const draft of drafts.values()) draft.windowMs = windowOf(draft)
  return [...drafts.values()].filter(({ limit, remaining }) => limit !== null || remaining !== null)
}

/** The window: many headers have limits of a day and do not name it, but no minute is full again only later. */
function windowOf({ windowMs, resetMs }: Draft): number {
  if (windowMs !== minuteMs || resetMs === null || resetMs <= latestMinuteResetMs) return windowMs
  return longerWindowsMs.find((longerMs) => resetMs <= longerMs) ?? longestWindowMs
}

/**
 * `RateLimit` and `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers, in its older form
 * (`limit=100, remaining=50, reset=30`) and its newer (`"default";r=50;t=30`, `"default";q=100;w=60`).
 */
function readStructured(
  value: string,
  note: (of: LimitedKind, windowMs: number, figure: Figure, value: number | null) => void,
): void {
  const at = (name: string): number | null => {
    const [, digits] = new RegExp(`(?:^|[;,\\s])${name}\\s*=\\s*"?(\\d+)`, 'i').exec(value) ?? []
    return digits === undefined ? null : Number(digits)
  }
  const windowMs = Math.min(longestWindowMs, (at('w') ?? 60) * 1000)
  const isTokens = /token/i.test(value)
  const of: LimitedKind = isTokens ? 'tokens' : 'requests'
  note(of, windowMs, 'limit', at('q') ?? at('limit'))
  note(of, windowMs, 'remaining', at('r') ?? at('remaining'))
  const seconds = at('t') ?? at('reset')
  note(of, windowMs, 'reset', seconds === null ? null : plausible(seconds * 1000))
}

/** A count, also with its policy (`100, 100;w=60`); null for any other text. */
function count(value: string): number | null {
  const [, digits] = /^(\d{1,15})(?:\.\d+)?(?:\s*[,;].*)?$/.exec(value) ?? []
  return digits === undefined ? null : Number(digits)
}

/**
 * Milliseconds until a reset: a duration (`6m0s`, `1.5s`, `20ms`), seconds, or an instant (RFC 3339, or Unix time in seconds
 * or milliseconds); 0 for an instant in the past.
 */
function resetIn(value: string, nowMs: number): number | null {
  if (/^\d+(?:\.\d+)?$/.test(value)) {
    const number = Number(value)
    if (number > 1e11) return plausible(number - nowMs)
    return plausible(number > 1e9 ? number * 1000 - nowMs : number * 1000)
  }
  if (/^(?:\d+(?:\.\d+)?(?:ms|[smhd]))+$/.test(value)) {
    let ms = 0
    for (const [, amount, unit = ''] of value.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)) {
      ms += Number(amount) * (unitMs[unit] ?? 0)
    }
    return plausible(ms)
  }
  if (!/^\d{4}-\d\d-\d\dT/.test(value)) return null
  const instant = Date.parse(value)
  return Number.isNaN(instant) ? null : plausible(instant - nowMs)
}

function plausible(ms: number): number | null {
  return ms > longestWindowMs ? null : Math.max(0, Math.ceil(ms))
}

/** The advice of an answer about a retry. */
export interface RetryHint {
  /** The wait in milliseconds; `null` without a readable one. */
  readonly afterMs: number | null
  /** True after `x-should-retry: false`. */
  readonly forbidden: boolean
}

/**
 * Reads `retry-after-ms`, or else `retry-after` in seconds or as a date (RFC 9110 §10.2.3), and `x-should-retry`.
 * A date counts from the answer's own `Date`, so that a wrong clock does not matter; without that header, from `nowMs`
 * (Unix epoch).
 */
export function readRetryHint(headers: RawHeaders, nowMs: number): RetryHint {
  const values = firstValues(headers)
  const fromMs = httpDateMs(values.get('date')) ?? nowMs
  const afterMs = plainNumber(values.get('retry-after-ms')) ?? retryAfterMs(values.get('retry-after'), fromMs)
  return { afterMs, forbidden: values.get('x-should-retry')?.toLowerCase() === 'false' }
}

/** The values of the headers, by small names. If a header is repeated, its first value counts. */
function firstValues(headers: RawHeaders): ReadonlyMap<string, string> {
  return new Map(
    headerPairs(headers)
      .toReversed()
      .map(([name, value]) => [name.toLowerCase(), value.trim()]),
  )
}
