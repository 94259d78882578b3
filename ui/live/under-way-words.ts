import { count } from '../format/figures.ts'
import type { LiveCall } from './live-call.ts'

/** `8 running, 4 waiting`; of what is neither, `1 under way`. Empty for none. */
export function underWayWords(calls: readonly LiveCall[]): string {
  const counts = { running: 0, waiting: 0, 'under way': 0 }
  for (const { isUnderWay, state } of calls) {
    if (isUnderWay) counts[state === 'running' || state === 'waiting' ? state : 'under way'] += 1
  }
  return Object.entries(counts)
    .flatMap(([words, calls]) => (calls === 0 ? [] : [`${count(calls)} ${words}`]))
    .join(', ')
}
