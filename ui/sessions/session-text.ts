import type { SessionSort } from '../../src/call/call-session.ts'
import type { CallSession } from '../../src/call/figures.ts'
import { dollars, orDash } from '../format/figures.ts'
import { shownText } from '../payloads/shown-text.ts'
import type { SessionCourse } from './session-course.ts'

/** Returns the first models, and the number of others: `claude-sonnet-5, gpt-5.1-mini +2`. */
export function modelWords(models: readonly string[], most = 2): string {
  const more = models.length - most
  return models.slice(0, most).map(shownText).join(', ') + (more > 0 ? ` +${more}` : '')
}

/** Returns the cost with the number of unpriced calls: `$0.12 + 3 unpriced`. */
export function costWords({
  cost_usd: cost,
  unpriced_calls: unpriced,
}: Pick<CallSession, 'cost_usd' | 'unpriced_calls'>): string {
  if (unpriced === 0) return orDash(cost, dollars)
  return cost === null ? 'No price' : `${dollars(cost)} + ${unpriced} unpriced`
}

/** Returns the values of a field that joins them by `,`. */
export function listed(text: string | null): readonly string[] {
  return text === null || text === '' ? [] : text.split(',')
}

/** A tool of a session. */
export interface ToolUse {
  readonly name: string
  /** The number of calls that requested the tool. */
  readonly calls: number
  /** The time between calls after those that requested only this tool. */
  readonly ms: number
}

/**
 * Returns the tools of a session, the one with the most time first, and the time after calls that requested
 * several.
 */
export function toolUses({ pieces, gaps }: Pick<SessionCourse, 'pieces' | 'gaps'>): {
  readonly tools: readonly ToolUse[]
  readonly togetherMs: number
} {
  const tools = new Map<string, ToolUse>()
  const add = (name: string, calls: number, ms: number): void => {
    const before = tools.get(name)
    tools.set(name, { name, calls: (before?.calls ?? 0) + calls, ms: (before?.ms ?? 0) + ms })
  }
  for (const { call } of pieces) for (const name of listed(call.tools)) add(name, 1, 0)
  let togetherMs = 0
  for (const {
    startMs,
    endMs,
    tools: [name, ...others],
  } of gaps) {
    if (others.length > 0) togetherMs += endMs - startMs
    else if (name !== undefined) add(name, 0, endMs - startMs)
  }
  return {
    tools: [...tools.values()].toSorted((a, b) => b.ms - a.ms || b.calls - a.calls),
    togetherMs,
  }
}

/** Names for the two directions of each order: largest first, then smallest first. */
export const firstWords: Readonly<Record<SessionSort, readonly [largest: string, smallest: string]>> = {
  last_at: ['Most recent', 'Least recent'],
  calls: ['Most calls', 'Fewest calls'],
  tokens: ['Most tokens', 'Fewest tokens'],
  cost: ['Most expensive', 'Cheapest'],
  duration: ['Longest', 'Shortest'],
}
