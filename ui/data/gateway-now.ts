import type { HealthReport, UpstreamHealth } from '../../src/api/health-report.ts'
import type { GatewayState, ProcessStatus } from '../../src/api/process-status.ts'
import { count, counted, percent } from '../format/figures.ts'

/** How the gateway is, in words. */
export const stateWords: Readonly<Record<GatewayState, string>> = {
  starting: 'Starting',
  running: 'Running',
  draining: 'Draining',
  stopped: 'Stopped',
  unresponsive: 'Not responding',
  foreign: 'Port in use by another program',
}

/** How it is, from nothing to say to something to do. */
export type Tone = 'good' | 'quiet' | 'warn' | 'bad'

/** The shape of the mark before the words: never the colour alone. */
export type StateShape = 'disc' | 'ring' | 'half' | 'square' | 'triangle' | 'cross'

/** The gateway at this moment, in words and shares. */
export interface GatewayNow {
  readonly shape: StateShape
  readonly tone: Tone
  readonly words: string
  /** Short words, for narrow windows. */
  readonly shortWords: string
  /** The consequence for users; empty for none. */
  readonly meaning: string
  readonly canStart: boolean
  /** The load; null while no gateway reports it. */
  readonly load: GatewayLoad | null
}

/** The load of the gateway. */
export interface GatewayLoad {
  readonly active: number
  readonly slots: number
  readonly queued: number
  /** The number of gateways or the upstream that the load is for, and calls that an old gateway finishes; empty for one gateway alone. */
  readonly ofAll: string
  readonly slotWords: string
  readonly queueWords: string
  /** The budget; null if there is none. */
  readonly budget: GatewayBudget | null
}

/** The tokens of any 24 hours. */
export interface GatewayBudget {
  /** 0 for none used; may exceed 1. */
  readonly share: number
  readonly tone: Tone
  readonly shareWords: string
  /** All of it, for a tooltip. */
  readonly words: string
}

type StateLook = Pick<GatewayNow, 'shape' | 'tone'> & Partial<Pick<GatewayNow, 'shortWords' | 'meaning'>>

const looks: Readonly<Record<GatewayState, StateLook>> = {
  starting: { shape: 'ring', tone: 'quiet' },
  running: { shape: 'disc', tone: 'good' },
  draining: { shape: 'half', tone: 'warn', meaning: 'new calls are refused' },
  stopped: { shape: 'square', tone: 'bad', meaning: 'all requests refused' },
  unresponsive: { shape: 'triangle', tone: 'bad' },
  foreign: { shape: 'cross', tone: 'bad', shortWords: 'Port in use' },
}

/** Warnings while which no call gets into the database. */
const notRecording: ReadonlySet<string> = new Set([
  'database_foreign',
  'database_other_version',
  'database_unavailable',
  'database_locked',
  'disk_full',
])

/** Time after a crash for which the bar shows it. */
const crashShownS = 300

/** The content of the bar for a status. */
export function gatewayNow(status: ProcessStatus): GatewayNow {
  const look = looks[status.state]
  const canStart = status.state === 'stopped'
  const load = status.running ? loadOf(status) : null
  const words = stateWords[status.state]
  const plain = { words, shortWords: words, meaning: '', canStart, load, ...look }
  /** A warning or error, which replaces the display of the state. */
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

/** Calls that gateways before this one still finish. */
export function finishingCalls({ predecessors }: Pick<ProcessStatus, 'predecessors'>): number {
  return predecessors.reduce((sum, { calls }) => sum + calls, 0)
}

/**
 * The upstream with all slots in use and the most calls waiting: free slots of the others are of no
 * use to those. Null where none is full.
 */
export function fullUpstream({ upstreams = [] }: Pick<HealthReport, 'upstreams'>): UpstreamHealth | null {
  if (upstreams.length < 2) return null
  const full = upstreams.filter(
    ({ rate_limiter: { active, max_concurrent, queued } }) => queued > 0 || active >= max_concurrent,
  )
  return full.toSorted((a, b) => b.rate_limiter.queued - a.rate_limiter.queued)[0] ?? null
}

function loadOf({ health, predecessors }: ProcessStatus): GatewayLoad | null {
  if (health === null) return null
  const { rate_limiter: ownLimiter, shared } = health
  // The last answer of the shared database is old while it is unreachable.
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
    ofAll,
    slotWords: `${count(active)} of ${counted(slots, 'slot')}${ofAll}`,
    queueWords: queued === 0 ? 'none waiting' : `${count(queued)} waiting`,
    budget: budgetOf(health.token_budget),
  }
}

/** How much of the token budget is used; null without one. */
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
 * Gives the base URL for clients: the gateway as this page's reader reaches it.
 *
 * @param pageHost the name under which the dashboard was reached
 */
export function baseUrlOf(status: Pick<ProcessStatus, 'host' | 'port'> | null, pageHost: string): string {
  const { host, port } = status ?? { host: '', port: gatewayPort }
  const isAny = host === '0.0.0.0' || host === '::' || host === ''
  const name = isAny ? pageHost : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port === 0 ? '<any free port>' : port}/v1`
}
