import type { Question } from '../design/overlay/confirm.tsx'
import type { GatewayRow, GatewaysReport } from '../../src/api/gateways.ts'
import { count, counted, longDuration, percent, shortCount } from '../format/figures.ts'
import type { RowState } from './row-state.ts'

/** One gateway alone has nothing to tell that the page does not tell anyway. */
export function isWorthShowing({ gateways, copy, problem }: GatewaysReport): boolean {
  return gateways.length > 1 || copy !== null || problem !== null
}

/** What they have in use together. */
export function allWords({ gateways, max_concurrent: max }: GatewaysReport): string {
  const active = gateways.reduce((sum, row) => sum + row.active, 0)
  const known = counted(gateways.length, 'gateway')
  return max === null ? known : `${count(active)} of ${counted(max, 'slot')}, ${known}`
}

/** The state of one, and what follows of it. `time` writes an instant, in ms since the Unix epoch. */
export function stateOf(
  { state, away_since: since, lease_left_s: leaseS, held, can_release: isLost }: GatewayRow,
  time: (ms: number) => string,
): RowState {
  if (state === 'learning')
    return { shape: 'ring', tone: 'warn', words: 'Learning', details: ['no slots until all are known again'] }
  if (since === null) return { shape: 'disc', tone: 'good', words: 'OK', details: [] }
  const words = `Away since ${time(Date.parse(since))}`
  const keeps = held > 0 && leaseS !== null && leaseS > 0 && !isLost
  const details = keeps ? [`its slots are free in ${longDuration(leaseS)}`] : []
  return { shape: 'triangle', tone: 'bad', words, details }
}

/** What is asked before a gateway is released. */
export function releaseQuestion({ instance, host, held }: GatewayRow): Question {
  return {
    title: `Release the gateway ${instance} on ${host}?`,
    yes: 'Release',
    points: [
      `It leaves the list, and its slots are given to others: it holds ${held === 0 ? 'none' : count(held)}.`,
      'If it is alive after all, more calls than the limit may run at once until it notices.',
      'Calls that it has recorded and not sent yet stay on its machine, and are sent when it runs again.',
    ],
  }
}

/** How the first copy of others' calls goes. */
export function copyWords({ pulled, last }: NonNullable<GatewaysReport['copy']>): string {
  return `Calls of the others are being copied here: ${percent(pulled / last)}, ${shortCount(last - pulled)} rows to go. Figures and lists grow until then.`
}
