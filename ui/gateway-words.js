/** @import { GatewayState, ProcessStatus } from '../src/api/process-status.ts' */
/** @import { ProxyConfig } from '../src/api/proxy-config.ts' */
/** @import { Format } from './format.js' */

/** @typedef {'start' | 'stop' | 'restart'} Action */

/** @type {Readonly<Record<GatewayState, string>>} */
const stateWords = {
  starting: 'Starting',
  running: 'Running',
  draining: 'Draining',
  stopped: 'Stopped',
  unresponsive: 'Not responding',
  foreign: 'Port taken by something else',
}

/** @type {Readonly<Record<GatewayState, readonly Action[]>>} */
const usableActions = {
  starting: [],
  running: ['stop', 'restart'],
  draining: [],
  stopped: ['start'],
  unresponsive: ['stop', 'restart'],
  foreign: [],
}

/** @param {ProcessStatus} status */
export function wordsOf({ state }) {
  return stateWords[state]
}

/**
 * What stands behind the state's words.
 *
 * @param {ProcessStatus} status
 * @param {Format} format
 */
export function detailOf({ state, port, health, health_ok: healthOk }, format) {
  const active = health?.rate_limiter.active ?? 0
  if (state === 'draining') return `finishing ${format.counted(active, 'call', 'calls')}`
  if (state === 'foreign') return `port ${port}`
  if (state !== 'running') return ''
  if (!healthOk) return 'but its own port does not answer'
  return health?.status === 'degraded' ? 'with warnings' : `on port ${port}`
}

/**
 * @param {ProcessStatus} status
 * @returns {readonly Action[]}
 */
export function actionsOf({ state }) {
  return usableActions[state]
}

/**
 * What becomes of the calls there are, to be read before the gateway is stopped or restarted.
 *
 * @param {Action} action
 * @param {ProcessStatus} status
 * @param {ProxyConfig | null} config
 * @param {Format} format
 */
export function consequencesOf(action, status, config, format) {
  if (status.state === 'unresponsive') {
    return ['The gateway does not answer: it is ended by force, and calls in flight break off.']
  }
  const { active = 0, queued = 0 } = status.health?.rate_limiter ?? {}
  const inFlight = active === 0 ? null : `${format.counted(active, 'call', 'calls')} in flight`
  const waiting = queued === 0 ? null : format.counted(queued, 'waiting call', 'waiting calls')
  const points = []
  if (inFlight === null) points.push('No call is in flight.')
  if (action === 'stop') {
    if (inFlight !== null) points.push(`${inFlight} may finish${within(config, format)}.`)
    if (waiting !== null) points.push(`${waiting} will be refused.`)
    points.push('Clients are refused until it is started again.')
  } else {
    const kept = [inFlight, waiting].filter((calls) => calls !== null).join(' and ')
    if (kept !== '') points.push(`${kept} will be finished by the old process.`)
    points.push('No call is refused: the new gateway takes over once it is up.')
  }
  const pending = config?.needs_restart ?? []
  if (action === 'restart' && pending.length > 0) points.push(`This brings in ${pending.join(', ')}.`)
  return points
}

/**
 * @param {ProxyConfig | null} config
 * @param {Format} format
 */
function within(config, format) {
  const option = config?.options.find(({ name }) => name === 'drain_timeout_ms')
  const ms = Number(option?.running ?? option?.value ?? Number.NaN)
  return Number.isNaN(ms) ? '' : ` within ${format.duration(Math.ceil(ms / 1000))}`
}

/** @type {Readonly<Record<ProxyConfig['upstream_key'], string>>} */
export const keyWords = {
  absent: 'None here: each client sends its own.',
  lent: 'UPSTREAM_API_KEY is lent to calls from this machine that bring no key of their own.',
  withheld:
    'UPSTREAM_API_KEY is withheld: the upstream was set on this page, not by who started the dashboard.',
}

/**
 * What a client is given: the gateway as this page's reader reaches it.
 *
 * @param {ProcessStatus} status
 * @param {string} pageHost the name under which the dashboard was reached
 */
export function baseUrlOf({ host, port }, pageHost) {
  const isAny = host === '0.0.0.0' || host === '::'
  const name = isAny ? pageHost : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port === 0 ? '<any free port>' : port}/v1`
}

/**
 * @param {string} baseUrl
 * @param {boolean} needsKey
 */
export function curlLine(baseUrl, needsKey) {
  return `curl ${baseUrl}/models${needsKey ? ' -H "Authorization: Bearer $OPENAI_API_KEY"' : ''}`
}
