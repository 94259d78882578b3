import type { Question } from '../design/overlay/confirm.tsx'
import type { GatewayRow, GatewaysReport } from '../../src/api/gateways.ts'
import { count, counted, longDuration, percent } from '../format/figures.ts'
import type { RowState } from './row-columns.tsx'

/** True if the card says more than the page already shows for a single gateway. */
export function isWorthShowing(report: GatewaysReport | null): report is GatewaysReport {
  if (report === null) return false
  const { gateways, copy, problem } = report
  return gateways.length > 1 || copy !== null || problem !== null
}

/** Returns a text on the slots that all gateways use together. */
export function allWords({ gateways, max_concurrent: max }: GatewaysReport): string {
  const active = gateways.reduce((sum, row) => sum + row.active, 0)
  const gatewaysText = counted(gateways.length, 'gateway')
  return max === null ? gatewaysText : `${count(active)} of ${counted(max, 'slot')}, ${gatewaysText}`
}

/** Returns the state of a gateway and its consequence. `time` formats an instant (ms since the Unix epoch). */
export function stateOf(
  { state, away_since: since, lease_left_s: leaseS, held, can_release: isLost }: GatewayRow,
  time: (ms: number) => string,
): RowState {
  if (state === 'learning')
    return {
      shape: 'ring',
      tone: 'warn',
      words: 'Rejoining',
      details: ['no new slots until all gateways have reported'],
    }
  if (since === null) return { shape: 'disc', tone: 'good', words: 'OK', details: [] }
  const words = `Away since ${time(Date.parse(since))}`
  const keeps = held > 0 && leaseS !== null && leaseS > 0 && !isLost
  const details = keeps ? [`slots freed in ${longDuration(leaseS)}`] : []
  return { shape: 'triangle', tone: 'bad', words, details }
}

/** Returns the question before a gateway is released. */
export function releaseQuestion({ instance, host, held }: GatewayRow): Question {
  return {
    title: `Release gateway ${instance} on ${host}?`,
    yes: 'Release',
    points: [
      `It leaves the list, and other gateways get its ${held === 0 ? 'slots: it holds none' : counted(held, 'slot')}.`,
      'If it is still running, calls may exceed the limit until it notices.',
      'Calls it has recorded but not sent stay on its machine until it runs again.',
    ],
  }
}

/** Returns the progress of the first copy of other gateways' calls. */
export function copyWords({ pulled, last }: NonNullable<GatewaysReport['copy']>): string {
  return `Copying calls from other gateways: ${percent(pulled / last)}, ${count(last - pulled)} rows left. Figures are incomplete until then.`
}
