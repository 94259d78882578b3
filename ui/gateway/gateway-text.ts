import type { HealthReport } from '../../src/api/health-report.ts'
import type { GatewayState, ProcessStatus } from '../../src/api/process-status.ts'
import type { ProxyConfig } from '../../src/api/proxy-config.ts'
import { counted, longDuration, count } from '../format/figures.ts'
import { optionTitle } from './option-text.ts'

/** The actions of the buttons. */
export type GatewayAction = 'start' | 'stop' | 'restart'

const usableActions: Readonly<Record<GatewayState, readonly GatewayAction[]>> = {
  starting: [],
  running: ['stop', 'restart'],
  draining: [],
  stopped: ['start'],
  unresponsive: ['stop', 'restart'],
  foreign: [],
}

/** Returns the actions that the gateway's state allows. */
export function actionsOf({ state }: ProcessStatus): readonly GatewayAction[] {
  return usableActions[state]
}

/** Returns the detail shown behind the name of the state. */
export function detailOf({ state, port, health, health_ok: isHealthy }: ProcessStatus): string {
  const active = health?.rate_limiter.active ?? 0
  if (state === 'draining') return `finishing ${counted(active, 'call')}`
  if (state === 'foreign') return `port ${port}`
  if (state !== 'running') return ''
  if (!isHealthy) return 'but its port does not respond'
  return health?.status === 'degraded' ? `on port ${port}, with warnings` : `on port ${port}`
}

/** Returns the consequences of an action for current calls, which the reader sees before it. */
export function consequencesOf(
  action: GatewayAction,
  status: ProcessStatus,
  config: ProxyConfig | null,
): readonly string[] {
  if (status.state === 'unresponsive') {
    return ['The gateway is not responding: it will be killed, and calls in flight will be cut off.']
  }
  const { active = 0, queued = 0 } = status.health?.rate_limiter ?? {}
  const inFlight = active === 0 ? null : `${counted(active, 'call')} in flight`
  const waiting = queued === 0 ? null : counted(queued, 'waiting call')
  const points = inFlight === null ? ['No calls in flight.'] : []
  if (action === 'stop') {
    if (inFlight !== null) points.push(`${inFlight} can finish${within(config)}.`)
    if (waiting !== null) points.push(`${waiting} will be refused.`)
    points.push('Requests will be refused until you start it again.')
  } else {
    const unfinished = [inFlight, waiting].filter((calls) => calls !== null).join(' and ')
    if (unfinished !== '') points.push(`The old process will finish ${unfinished}.`)
    points.push('No call is refused: the new process takes over once it is up.')
  }
  const pending = config?.needs_restart ?? []
  if (action === 'restart' && pending.length > 0) {
    points.push(`Applies changes to: ${pending.map(optionTitle).join(', ')}.`)
  }
  return points
}

function within(config: ProxyConfig | null): string {
  const option = config?.options.find(({ name }) => name === 'drain_timeout_ms')
  const ms = Number(option?.running ?? option?.value ?? Number.NaN)
  return Number.isNaN(ms) ? '' : ` within ${longDuration(Math.ceil(ms / 1000))}`
}

/** The texts for the key that goes to the upstream. */
export const keyWords: Readonly<Record<ProxyConfig['upstream_key'], string>> = {
  absent: 'No gateway key: each client sends its own.',
  lent: 'Calls from this machine without a key of their own use UPSTREAM_API_KEY.',
  withheld:
    'UPSTREAM_API_KEY is not sent, because the upstream was set on this page. Set --upstream to use it.',
}

/** Returns a shell command for a first call. */
export function curlLine(baseUrl: string, needsKey: boolean): string {
  return `curl ${baseUrl}/models${needsKey ? ' -H "Authorization: Bearer $OPENAI_API_KEY"' : ''}`
}

/** Returns a text on calls with a wrong base URL, which are in no list. */
export function wrongBaseUrlWords(calls: number): string {
  return `${counted(calls, 'call')} with a wrong base URL ${calls === 1 ? 'was' : 'were'} refused. Use this one, with /v1.`
}

/** Returns a text on the tokens used of the budget, and the estimated part. */
export function budgetWords(budget: HealthReport['token_budget']): string {
  const { total_used: used, daily_limit: limit, estimated, known } = budget
  return [
    `${count(used)} of ${count(limit)}`,
    ...(estimated > 0 ? [`${count(estimated)} estimated`] : []),
    ...(known ? [] : ['use before the start not loaded yet']),
  ].join(', ')
}
