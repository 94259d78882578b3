import type { CallSession } from '../../src/call/figures.ts'
import { dollars, known } from '../format/figures.ts'
import { shownText } from '../payloads/shown-text.ts'

/** `claude-sonnet-5, gpt-5.1-mini +2`: so many models as there is room for. */
export function modelWords(models: readonly string[], most = 2): string {
  const more = models.length - most
  return models.slice(0, most).map(shownText).join(', ') + (more > 0 ? ` +${more}` : '')
}

/** `$0.12`, with what has no price: `$0.12 + 3 unpriced`. */
export function costWords({
  cost_usd: cost,
  unpriced_calls: unpriced,
}: Pick<CallSession, 'cost_usd' | 'unpriced_calls'>): string {
  if (unpriced === 0) return known(cost, dollars)
  return cost === null ? 'No price' : `${dollars(cost)} + ${unpriced} unpriced`
}

/** The entries of a field that joins them by `,`. */
export function listed(text: string | null): readonly string[] {
  return text === null || text === '' ? [] : text.split(',')
}

/** Names of tools with how many calls asked for them, the one with the most first. */
export function toolCounts(
  calls: readonly { readonly tools: string | null }[],
): readonly (readonly [name: string, calls: number])[] {
  const counts = new Map<string, number>()
  for (const { tools } of calls) {
    for (const name of listed(tools)) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts].toSorted(([, one], [, other]) => other - one)
}
