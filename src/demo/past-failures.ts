import type { FailureCode } from '../call/failure.ts'
import type { Outcome } from '../call/outcome.ts'
import type { Random } from './random.ts'

/** The failure of a made-up call, and its recorded fields. */
export type PastFailure = ReturnType<typeof failure>

/**
 * `at` says how far the call came: not to the upstream, to a refusal at once, or into the middle of its answer. `nobody`:
 * the gateway's process ended before the call did. The status is that of the answer where it is null.
 */
function failure(
  at: 'gateway' | 'head' | 'answer' | 'nobody',
  outcome: Outcome,
  failureCode: FailureCode | null,
  status: number | null,
  upstreamErrorCode: string | null = null,
  errorMessage: string | null = null,
) {
  return { at, outcome, failureCode, status, upstreamErrorCode, errorMessage } as const
}

/** An answer of the upstream that is an error. */
function refusal(status: number, code: string, message: string): PastFailure {
  return failure('head', 'upstream_error', 'upstream_http', status, code, `Simulated: ${message}`)
}

const limited = refusal(429, 'rate_limit_exceeded', 'too many requests, try again soon.')
const broken = refusal(500, 'server_error', 'the server had an error.')
const overloaded = refusal(503, 'overloaded', 'the server is overloaded.')
const invalid = refusal(400, 'context_length_exceeded', 'the prompt is too long.')
const unreachable = failure('head', 'upstream_error', 'upstream_unreachable', 502)
const timeout = failure('answer', 'upstream_error', 'upstream_timeout', 504)
const inStream = failure('answer', 'upstream_error', 'stream_error', null, 'server_error')
const cut = failure('answer', 'upstream_cut', 'upstream_reset', null, null, 'socket hang up')
const truncated = failure('answer', 'upstream_cut', 'stream_truncated', null)
const ownFault = failure('gateway', 'gateway_error', 'internal_error', 500)
const interrupted = failure('nobody', 'interrupted', null, null)
const tooLarge = failure('gateway', 'refused', 'body_too_large', 413)
const queueFull = failure('gateway', 'refused', 'queue_full', 503)
const queueTimeout = failure('gateway', 'refused', 'queue_timeout', 503)

/** The end of a call whose client leaves. */
export const leaving = failure('answer', 'client_disconnected', 'client_gone', null)

type Shares = readonly (readonly [PastFailure, number])[]

/** Shares of calls that fail on a usual day, when the load is at least an average one. */
const usual: Shares = [
  [limited, 0.004],
  [broken, 0.002],
  [overloaded, 0.001],
  [invalid, 0.003],
  [timeout, 0.0004],
  [cut, 0.001],
  [tooLarge, 0.0002],
  [ownFault, 0.00005],
  [interrupted, 0.00005],
]
const ofStreams: Shares = [
  [inStream, 0.001],
  [truncated, 0.001],
]

/**
 * `failing`: part of one upstream's or model's answers are errors. `limited`: it answers 429 to many. `slow`: answers
 * take several times as long and calls queue. `unreachable`: no connection. `stopped`: the gateway does not run.
 */
export type IncidentKind = 'failing' | 'limited' | 'slow' | 'unreachable' | 'stopped'

export interface Incident {
  readonly kind: IncidentKind
  /** The upstream, or the model. */
  readonly of: string
  /** Minutes since the Unix epoch. */
  readonly fromMinute: number
  /** Minutes since the Unix epoch, exclusive. */
  readonly toMinute: number
}

const duringIncident: Readonly<Record<IncidentKind, Shares>> = {
  failing: [
    [broken, 0.2],
    [overloaded, 0.1],
  ],
  limited: [[limited, 0.5]],
  slow: [[timeout, 0.02]],
  unreachable: [[unreachable, 0.97]],
  stopped: [],
}

/**
 * Returns the failure of a call; null for most calls. With few calls at the time, failures are rarer, because each
 * would look like an incident.
 */
export function drawFailure(
  random: Random,
  { incidents, stream, load }: { incidents: readonly IncidentKind[]; stream: boolean; load: number },
): PastFailure | null {
  let remaining = random()
  const drawn = (shares: Shares, part: number): PastFailure | null => {
    for (const [candidate, share] of shares) {
      remaining -= share * part
      if (remaining < 0) return candidate
    }
    return null
  }
  for (const kind of incidents) {
    const drawnFailure = drawn(duringIncident[kind], 1)
    if (drawnFailure !== null) return drawnFailure
  }
  const part = Math.min(1, load)
  return drawn(usual, part) ?? (stream ? drawn(ofStreams, part) : null)
}

/** The refusal of a call that would wait too long. */
export function drawRefusal(random: Random): PastFailure {
  return random() < 0.5 ? queueFull : queueTimeout
}
