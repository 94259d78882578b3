import type { GroupFigures } from '../../src/call/call-question.ts'

/** What of all figures tells of money. */
export type SpendFigures = Pick<
  GroupFigures,
  'calls' | 'total_tokens' | 'cost_usd' | 'unpriced_calls' | 'no_usage_calls'
>

/** Figures under the name of a model or client. */
export type SpendGroup = SpendFigures & { readonly key: string | null }

/** Figures under a time, and the name where they are told apart. */
export type CourseGroup = SpendFigures & {
  readonly key?: string
  readonly keys?: Readonly<Record<string, string | null>>
  readonly rest?: true
}

/** An answer of `/api/query`, as far as it is looked at. */
export interface SpendAnswer<Group> {
  readonly groups: readonly Group[]
  readonly summary: SpendFigures
  readonly available_models: readonly string[]
  readonly available_types: readonly string[]
  readonly recorded_from: string | null
  readonly store?: string
  readonly note?: string
}

/** What one priced call cost on average; null where none has a price. */
export function costPerCall({
  calls,
  cost_usd: cost,
  unpriced_calls: unpriced,
}: SpendFigures): number | null {
  return cost === null || calls <= unpriced ? null : cost / (calls - unpriced)
}

/** Dollars for a million tokens. Where some calls have no price it is no less than this, and `isLeast`. */
export function costPerMillion(
  figures: SpendFigures,
): { readonly usd: number; readonly isLeast: boolean } | null {
  const { cost_usd: cost, total_tokens: tokens, unpriced_calls: unpriced } = figures
  if (cost === null || tokens === 0) return null
  return { usd: (cost * 1e6) / tokens, isLeast: unpriced > 0 }
}

/** What part of all has no price. */
export interface Unpriced {
  readonly calls: number
  /** Of all calls, 0 to 1. */
  readonly callShare: number
  /** Of all tokens, 0 to 1; of what is priced in part not all is known: then it is no less than this. */
  readonly tokenShare: number | null
  readonly isLeast: boolean
}

/** Looks at all models: those without any price tell their tokens, those priced in part only their calls. */
export function unpricedOf(summary: SpendFigures, models: readonly SpendFigures[]): Unpriced {
  const bare = models.filter(({ cost_usd: cost, unpriced_calls: calls }) => cost === null && calls > 0)
  const tokens = bare.reduce((sum, { total_tokens: tokens }) => sum + tokens, 0)
  return {
    calls: summary.unpriced_calls,
    callShare: summary.calls === 0 ? 0 : summary.unpriced_calls / summary.calls,
    tokenShare: summary.total_tokens === 0 ? null : tokens / summary.total_tokens,
    isLeast: models.some(({ cost_usd: cost, unpriced_calls: calls }) => cost !== null && calls > 0),
  }
}

/** A row of the table: what went to one model or client, and to the same before. */
export interface SpendRow {
  readonly name: string | null
  readonly now: SpendFigures
  /** Null where it was not there before, and where nothing is known of that time. */
  readonly before: SpendFigures | null
  /** Of all that was spent, 0 to 1; null where it has no price. */
  readonly share: number | null
}

/** The dearest first, then those without a price by their calls. */
export function spendRows(
  now: SpendAnswer<SpendGroup>,
  before: SpendAnswer<SpendGroup> | null,
): readonly SpendRow[] {
  const past = new Map(before?.groups.map((group) => [group.key, group]))
  const total = now.summary.cost_usd ?? 0
  return now.groups
    .map((group) => ({
      name: group.key,
      now: group,
      before: past.get(group.key) ?? null,
      share: group.cost_usd === null ? null : total === 0 ? 0 : group.cost_usd / total,
    }))
    .sort((one, other) => byCost(one.now, other.now))
}

function byCost(one: SpendFigures, other: SpendFigures): number {
  return (other.cost_usd ?? -1) - (one.cost_usd ?? -1) || other.calls - one.calls
}
