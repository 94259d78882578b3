import type { Outcome } from '../../src/call/outcome.ts'
import type { FailureCode } from '../../src/call/failure.ts'
import type { Random } from '../../src/demo/random.ts'
import { outcomeCodes, usageSourceCodes } from '../../src/call/fields/call-fields.ts'
import { at, type CallRow, type WordIds } from './call-rows.ts'
import type { Incident, IncidentKind } from './incidents.ts'

interface Failing {
  readonly outcome: Outcome
  readonly code: FailureCode | null
  /** null: as it was. */
  readonly status: number | null
  readonly upstreamCode?: string
  readonly message?: string
  /**
   * How far the call came: not to the upstream, to a refusal at once, or into the middle of its answer.
   * `nobody`: the gateway's process ended before the call did.
   */
  readonly at: 'gateway' | 'head' | 'answer' | 'nobody'
}

const failures = {
  limited: {
    outcome: 'upstream_error',
    code: 'upstream_http',
    status: 429,
    upstreamCode: 'rate_limit_exceeded',
    message: 'Rate limit reached for requests per minute',
    at: 'head',
  },
  broken: {
    outcome: 'upstream_error',
    code: 'upstream_http',
    status: 500,
    upstreamCode: 'server_error',
    message: 'The server had an error while processing your request',
    at: 'head',
  },
  overloaded: {
    outcome: 'upstream_error',
    code: 'upstream_http',
    status: 503,
    upstreamCode: 'overloaded',
    at: 'head',
  },
  invalid: {
    outcome: 'upstream_error',
    code: 'upstream_http',
    status: 400,
    upstreamCode: 'context_length_exceeded',
    at: 'head',
  },
  unreachable: { outcome: 'upstream_error', code: 'upstream_unreachable', status: 502, at: 'head' },
  timeout: { outcome: 'upstream_error', code: 'upstream_timeout', status: 504, at: 'answer' },
  inStream: {
    outcome: 'upstream_error',
    code: 'stream_error',
    status: null,
    upstreamCode: 'server_error',
    message: 'The model produced invalid content',
    at: 'answer',
  },
  cut: { outcome: 'upstream_cut', code: 'upstream_reset', status: null, at: 'answer' },
  truncated: { outcome: 'upstream_cut', code: 'stream_truncated', status: null, at: 'answer' },
  left: { outcome: 'client_disconnected', code: 'client_gone', status: null, at: 'answer' },
  queueFull: { outcome: 'refused', code: 'queue_full', status: 503, at: 'gateway' },
  queueTimeout: { outcome: 'refused', code: 'queue_timeout', status: 503, at: 'gateway' },
  ownFault: { outcome: 'gateway_error', code: 'internal_error', status: 500, at: 'gateway' },
  interrupted: { outcome: 'interrupted', code: null, status: null, at: 'nobody' },
  tooLarge: { outcome: 'refused', code: 'body_too_large', status: 413, at: 'gateway' },
} satisfies Record<string, Failing>

type FailureName = keyof typeof failures

/** Shares of calls that fail: on a usual day, and during an incident of the upstream. */
const usual: readonly (readonly [FailureName, number])[] = [
  ['limited', 0.004],
  ['broken', 0.002],
  ['overloaded', 0.001],
  ['invalid', 0.003],
  ['timeout', 0.0004],
  ['cut', 0.001],
  ['queueTimeout', 0.0002],
  ['tooLarge', 0.0002],
  ['ownFault', 0.00005],
  ['interrupted', 0.00005],
]
const duringIncident: Readonly<Record<IncidentKind, readonly (readonly [FailureName, number])[]>> = {
  failing: [
    ['broken', 0.2],
    ['overloaded', 0.1],
  ],
  limited: [['limited', 0.22]],
  slow: [['timeout', 0.02]],
  unreachable: [['unreachable', 0.97]],
  stopped: [],
}
const ofStreams: readonly (readonly [FailureName, number])[] = [
  ['left', 0.022],
  ['inStream', 0.001],
  ['truncated', 0.001],
]

export interface CallConditions {
  readonly incidents: readonly Incident[]
  readonly isStream: boolean
  readonly pressure: number
}

/** Turns a row of a call that went well into one of a call that did not, now and then. */
export function endBadly(random: Random, words: WordIds, row: CallRow, conditions: CallConditions): void {
  const failing = drawFailure(random, conditions)
  if (failing === null) return
  row[at.outcome_id] = outcomeCodes[failing.outcome]
  if (failing.code !== null) row[at.failure_code_id] = words.idOf('labels', failing.code)
  if (failing.status !== null) row[at.status] = failing.status
  if (failing.upstreamCode !== undefined) {
    row[at.upstream_error_code_id] = words.idOf('labels', failing.upstreamCode)
  }
  if (failing.message !== undefined) row[at.error_message] = failing.message
  row[at.response_bytes] =
    failing.at === 'answer' ? Math.round(Number(row[at.response_bytes]) * random()) : 240
  withoutUsage(row)
  const waitedUs = Number(row[at.receive_us]) + Number(row[at.queue_us])
  if (failing.at === 'answer') {
    const answeredUs = Number(row[at.duration_us]) - waitedUs
    const share = 0.2 + 0.8 * random()
    const endedUs = Math.round(answeredUs * share)
    row[at.duration_us] = waitedUs + endedUs
    cutShort(row, endedUs, share)
    return
  }
  for (const place of answerPlaces) row[place] = null
  if (failing.at === 'nobody') {
    for (const place of timePlaces) row[place] = null
    row[at.status] = null
    row[at.response_bytes] = 0
    return
  }
  if (failing.at === 'gateway') {
    row[at.attempts] = 0
    row[at.duration_us] = waitedUs + 150
    return
  }
  row[at.ttfb_us] = 20_000 + Math.round(random() * 180_000)
  row[at.duration_us] = waitedUs + Number(row[at.ttfb_us]) + 300
}

const contentPlaces = [
  at.ttft_us,
  at.ttfo_us,
  at.chunks,
  at.gap_p50_us,
  at.gap_p95_us,
  at.gap_max_us,
  at.stalls,
]
const answerPlaces = [at.ttfb_us, ...contentPlaces, at.response_model_id, at.connect_us, at.search_units]
const timePlaces = [at.receive_us, at.queue_us, at.duration_us, at.overhead_us]
const usagePlaces = [
  at.tpot_us,
  at.finish_reason_id,
  at.input_tokens,
  at.output_tokens,
  at.cached_input_tokens,
  at.cache_write_tokens,
  at.cache_write_1h_tokens,
  at.reasoning_tokens,
  at.total_tokens,
  at.cost_nano_usd,
  at.price_source_id,
  at.price_key_id,
]

/** What would have come after the end did not come. */
function cutShort(row: CallRow, endedUs: number, share: number): void {
  const isLater = (place: number): boolean => Number(row[place]) > endedUs
  if (isLater(at.ttfb_us)) row[at.ttfb_us] = null
  if (isLater(at.ttft_us)) for (const place of contentPlaces) row[place] = null
  if (isLater(at.ttfo_us)) row[at.ttfo_us] = null
  if (row[at.chunks] !== null) row[at.chunks] = Math.max(1, Math.round(Number(row[at.chunks]) * share))
}

/** The usage comes with the end of an answer. */
function withoutUsage(row: CallRow): void {
  row[at.usage_source_id] = usageSourceCodes.none
  for (const place of usagePlaces) row[place] = null
}

function drawFailure(random: Random, { incidents, isStream, pressure }: CallConditions): Failing | null {
  let left = random()
  const drawn = (chances: readonly (readonly [FailureName, number])[]): Failing | null => {
    for (const [name, chance] of chances) {
      if (left < chance) return failures[name]
      left -= chance
    }
    return null
  }
  for (const { kind } of incidents) {
    const found = drawn(duringIncident[kind])
    if (found !== null) return found
  }
  const found = drawn(usual) ?? (isStream ? drawn(ofStreams) : null)
  if (found !== null) return found
  return pressure > 1 && left < 0.01 * (pressure - 1) ? failures.queueFull : null
}
