import type { GroupFigures } from '../../src/call/figures.ts'
import type { CallsAnswer } from '../data/dashboard-api.ts'
import { type Change, changeOf } from '../format/change.ts'

/** The figures of costs. */
export type SpendFigures = Pick<
  GroupFigures,
  | 'calls'
  | 'total_tokens'
  | 'cached_share'
  | 'cache_saved_usd'
  | 'cost_usd'
  | 'unpriced_calls'
  | 'no_usage_calls'
>

/** Figures under the name of a model or client. */
export type SpendGroup = SpendFigures & { readonly key: string | null }

/** The figures of a time, and of a name if they are grouped by one. */
export type CourseGroup = SpendFigures & {
  readonly key?: string
  readonly keys?: Readonly<Record<string, string | null>>
  readonly rest?: true
}

/** The used members of an answer of `/api/query`. */
export interface SpendAnswer<Group> extends Pick<
  CallsAnswer,
  'available_models' | 'available_types' | 'store' | 'note' | 'resolution'
> {
  readonly groups: readonly Group[]
  readonly summary: SpendFigures
  readonly recorded_from: string | null
}

/** The change of a cost since the time before; neither way is the better one. */
export function changeOfCost(
  now: SpendFigures,
  before: SpendFigures | null,
  costOf: (figures: SpendFigures) => number | null,
  show: (usd: number) => string,
): Change | null {
  const past = before === null ? null : costOf(before)
  const compared = { now: costOf(now), before: past, nNow: now.calls, nBefore: before?.calls ?? 0 }
  return changeOf({ ...compared, better: null, show })
}

/** The cost as a multiple of that of the previous period; null if either is unknown. */
export function costRatio({ now, before }: Pick<SpendRow, 'now' | 'before'>): number | null {
  const past = before?.cost_usd ?? null
  if (now.cost_usd === null || past === null) return null
  return now.cost_usd === past ? 1 : now.cost_usd / past
}

/** Tokens of calls; null if no call that used tokens reported them. */
export function tokensOf({
  total_tokens: tokens,
  no_usage_calls: untold,
}: Pick<SpendFigures, 'total_tokens' | 'no_usage_calls'>): number | null {
  return tokens === 0 && untold > 0 ? null : tokens
}

/** Dollars for a million tokens; `isLeast` if some calls have no price. */
export function costPerMillion(
  figures: SpendFigures,
): { readonly usd: number; readonly isLeast: boolean } | null {
  const { cost_usd: cost, total_tokens: tokens, unpriced_calls: unpriced } = figures
  if (cost === null || tokens === 0) return null
  return { usd: (cost * 1e6) / tokens, isLeast: unpriced > 0 }
}

/** The calls that have no price. */
export interface Unpriced {
  readonly calls: number
  /** Share of all calls, 0 to 1. */
  readonly callShare: number
  /** Share of all tokens, 0 to 1; a lower bound if some models are priced in part. */
  readonly tokenShare: number | null
  readonly isLeast: boolean
}

/** The unpriced part: tokens of models without any price, and calls of models with some prices. */
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

/** A row of the table: the spend on one model or client, and on the same before. */
export interface SpendRow {
  readonly name: string | null
  readonly now: SpendFigures
  /** The figures of the time before; null without calls, or if that time is unknown. */
  readonly before: SpendFigures | null
  /** Share of all spend, 0 to 1; null without a price. */
  readonly share: number | null
}

/** Rows by cost, the highest first, then those without a price by their number of calls. */
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
    .sort((a, b) => byCost(a.now, b.now))
}

function byCost(a: SpendFigures, b: SpendFigures): number {
  return (b.cost_usd ?? -1) - (a.cost_usd ?? -1) || b.calls - a.calls
}

/** The sum of the costs that are known; null if none is. */
export function sumOf(values: readonly (number | null)[]): number | null {
  const costs = values.filter((value) => value !== null)
  return costs.length === 0 ? null : costs.reduce((sum, value) => sum + value, 0)
}
