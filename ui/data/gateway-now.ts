import type { HealthReport, UpstreamHealth } from '../../src/api/health-report.ts'
import type { GatewayState, ProcessStatus } from '../../src/api/process-status.ts'
import { count, counted, percent } from '../format/figures.ts'

/** The urgency of a message, which chooses its colour. */
export type Tone = 'good' | 'quiet' | 'warn' | 'bad'

/** The shape of the mark beside a state, because colour alone must not show it. */
export type StateShape = 'disc' | 'ring' | 'half' | 'square' | 'triangle' | 'cross'

/** The gateway's current state for the page. */
export interface GatewayNow {
  readonly shape: StateShape
  readonly tone: Tone
  readonly words: string
  /** A shorter form of `words`, for narrow windows. */
  readonly shortWords: string
  /** The consequence of the state for users; empty for none. */
  readonly meaning: string
  readonly canStart: boolean
  /** The load; null if no gateway reports it. */
  readonly load: GatewayLoad | null
}

/** The gateway's load. */
export type GatewayLoad = NonNullable<ReturnType<typeof loadOf>>

/** The tokens used in the last 24 hours, against the budget. */
export interface GatewayBudget {
  /** The used share, from 0; more than 1 if the budget is exceeded. */
  readonly share: number
  readonly tone: Tone
  readonly shareWords: string
  /** Used and allowed tokens, for a tooltip. */
  readonly words: string
}

type StateLook = Pick<GatewayNow, 'words' | 'shape' | 'tone'> &
  Partial<Pick<GatewayNow, 'shortWords' | 'meaning'>>

/** The gateway's states, each in words and with its look. */
export const gatewayStates: Readonly<Record<GatewayState, StateLook>> = {
  starting: { words: 'Starting', shape: 'ring', tone: 'quiet' },
  running: { words: 'Running', shape: 'disc', tone: 'good' },
  draining: { words: 'Draining', shape: 'half', tone: 'warn', meaning: 'new calls are refused' },
  stopped: { words: 'Stopped', shape: 'square', tone: 'bad', meaning: 'all requests refused' },
  unresponsive: { words: 'Not responding', shape: 'triangle', tone: 'bad' },
  foreign: {
    words: 'Port in use by another program',
    shortWords: 'Port in use',
    shape: 'cross',
    tone: 'bad',
  },
}

/** Warnings that mean that no call reaches the database. */
const notRecording: ReadonlySet<string> = new Set([
  'database_foreign',
  'database_other_version',
  'database_unavailable',
  'database_locked',
  'disk_full',
])

/** The time (s) after a crash in which the page shows it. */
const crashShownS = 300

/** Returns the gateway's current state for the page. */
export function gatewayNow(status: ProcessStatus): GatewayNow {
  const state = gatewayStates[status.state]
  const canStart = status.state === 'stopped'
  const load = status.running ? loadOf(status) : null
  const plain = { shortWords: state.words, meaning: '', canStart, load, ...state }
  /** Returns a warning or error in place of the state. */
  const alarm = (tone: Tone, words: string, shortWords: string): GatewayNow => ({
    ...plain,
    shape: 'triangle',
    tone,
    words,
    shortWords,
  })
  if (status.state !== 'running') {
    return isBeingStartedAgain(status) ? alarm('bad', 'Crashed, restarting', 'Crashed') : plain
  }
  if (!status.health_ok) return alarm('warn', 'Port not responding', 'Port down')
  if (status.health?.status === 'degraded') {
    return status.health.warnings.some(({ code }) => notRecording.has(code))
      ? alarm('warn', 'Running, but not recording', 'Not recording')
      : alarm('warn', 'Running, with warnings', 'Warnings')
  }
  if (status.crash !== null && (status.uptime_s ?? 0) < crashShownS) {
    return alarm('warn', 'Running, restarted after a crash', 'Crashed')
  }
  return plain
}

function isBeingStartedAgain({ crash }: ProcessStatus): boolean {
  return crash?.state === 'waiting' || crash?.state === 'starting'
}

/** Returns the number of calls that old gateways still finish. */
export function finishingCalls({ predecessors }: Pick<ProcessStatus, 'predecessors'>): number {
  return predecessors.reduce((sum, { calls }) => sum + calls, 0)
}

/**
 * Returns the upstream with all slots in use and the most waiting calls, because free slots of others do not help
 * these calls. Null if no upstream is full, or with a single upstream.
 */
export function fullUpstream({ upstreams = [] }: Pick<HealthReport, 'upstreams'>): UpstreamHealth | null {
  if (upstreams.length < 2) return null
  const full = upstreams.filter(
    ({ rate_limiter: { active, max_concurrent, queued } }) => queued > 0 || active >= max_concurrent,
  )
  return full.toSorted((a, b) => b.rate_limiter.queued - a.rate_limiter.queued)[0] ?? null
}

function loadOf({ health, predecessors }: ProcessStatus) {
  if (health === null) return null
  const { rate_limiter: ownLimiter, shared } = health
  // While the shared database is unreachable, its last answer is outdated.
  const all = shared !== undefined && shared.gateways > 1 && shared.engine !== 'away' ? shared : null
  const full = all === null ? fullUpstream(health) : null
  const { active: ownActive, max_concurrent: slots } = full?.rate_limiter ?? ownLimiter
  const active = all?.active_all ?? ownActive
  const queued = all?.waiting_all ?? ownLimiter.queued
  const finishing = finishingCalls({ predecessors })
  const ofAll = [
    all === null ? '' : `, ${counted(all.gateways, 'gateway')}`,
    full === null ? '' : ` at ${full.name}`,
    finishing === 0 ? '' : ` + ${count(finishing)} finishing`,
  ].join('')
  return {
    active,
    slots,
    queued,
    /**
     * Text behind the slots: the number of gateways, the upstream, and calls that an old gateway finishes. Empty for
     * a single gateway.
     */
    ofAll,
    slotWords: `${count(active)} of ${counted(slots, 'slot')}${ofAll}`,
    queueWords: queued === 0 ? 'none waiting' : `${count(queued)} waiting`,
    /** The budget; null if none is set. */
    budget: budgetOf(health.token_budget),
  }
}

/** Returns the used part of the token budget; null without a budget. */
export function budgetOf({
  daily_limit: limit,
  total_used: used,
}: Pick<HealthReport['token_budget'], 'daily_limit' | 'total_used'>): GatewayBudget | null {
  if (limit <= 0) return null
  const share = used / limit
  return {
    share,
    tone: share >= 1 ? 'bad' : share >= 0.8 ? 'warn' : 'quiet',
    shareWords: percent(share),
    words: `${count(used)} of ${count(limit)} tokens used in the last 24 hours`,
  }
}

const gatewayPort = 9090

/**
 * Returns the gateway's base URL for clients, as reachable from the reader's machine.
 *
 * @param pageHost the host name of the page's address
 */
export function baseUrlOf(status: Pick<ProcessStatus, 'host' | 'port'> | null, pageHost: string): string {
  const { host, port } = status ?? { host: '', port: gatewayPort }
  const isAny = host === '0.0.0.0' || host === '::' || host === ''
  const name = isAny ? pageHost : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port === 0 ? '<any free port>' : port}/v1`
}
