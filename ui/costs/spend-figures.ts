import type { GroupFigures } from '../../src/call/figures.ts'
import type { CallsAnswer } from '../data/dashboard-api.ts'
import type { FreeCalls } from '../data/free-calls.ts'
import { type CompareBy, type NamedGroup, idOf } from '../data/page-address.ts'
import { type Change, changeOf } from '../format/change.ts'

/** The cost figures of a group. */
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

/** The figures of a model, client or other group. */
export type SpendGroup = SpendFigures & NamedGroup

/** The figures of a time, and of a group if the course has groups. */
export type CourseGroup = SpendFigures & {
  readonly key?: string
  readonly keys?: Readonly<Record<string, string | null>>
  readonly rest?: true
}

/** The members of an answer of `/api/query` that the view uses. */
export interface SpendAnswer<Group> extends Pick<
  CallsAnswer,
  'available_models' | 'available_types' | 'store' | 'note' | 'resolution'
> {
  /** The grouping, time first: `hour,model`. */
  readonly group_by: string
  readonly groups: readonly Group[]
  readonly summary: SpendFigures
  readonly recorded_from: string | null
}

/** Returns the change of a cost against the period before. No direction counts as better. */
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

/** Returns the cost as a multiple of the previous period's cost; null if either is unknown. */
export function costRatio({ now, before }: Pick<SpendRow, 'now' | 'before'>): number | null {
  const past = before?.cost_usd ?? null
  if (now.cost_usd === null || past === null) return null
  return now.cost_usd === past ? 1 : now.cost_usd / past
}

/** Returns the tokens of calls; null if no call with tokens reported them. */
export function tokensOf({
  total_tokens: tokens,
  no_usage_calls: untold,
}: Pick<SpendFigures, 'total_tokens' | 'no_usage_calls'>): number | null {
  return tokens === 0 && untold > 0 ? null : tokens
}

/** Returns USD per million tokens. `isLeast` is true if some calls have no price. */
export function costPerMillion(
  figures: SpendFigures,
): { readonly usd: number; readonly isLeast: boolean } | null {
  const { cost_usd: cost, total_tokens: tokens, unpriced_calls: unpriced } = figures
  if (cost === null || tokens === 0) return null
  return { usd: (cost * 1e6) / tokens, isLeast: unpriced > 0 }
}

/** The unpriced part of calls. */
export interface Unpriced {
  readonly calls: number
  /** The share of all calls, 0 to 1. */
  readonly callShare: number
  /** The share of all tokens, 0 to 1; a lower bound if some models are partly priced. */
  readonly tokenShare: number | null
  readonly isLeast: boolean
}

/** Returns the unpriced part: tokens of models without any price, and calls of partly priced models. */
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

/** True for a model of the set, false for the rest of models. */
export function isAmong(models: ReadonlySet<string | null> | null, { key, rest }: NamedGroup): boolean {
  return rest !== true && models?.has(key) === true
}

/** Returns the unpriced calls that nobody bills. `models` are those whose unpriced calls nobody bills; null while unknown. */
export function freeCallsIn(
  { groups }: Pick<SpendAnswer<SpendGroup>, 'groups'>,
  models: ReadonlySet<string | null> | null,
): FreeCalls | null {
  const sum = (calls: number, group: SpendGroup): number =>
    calls + (isAmong(models, group) ? group.unpriced_calls : 0)
  return models && { models, calls: groups.reduce(sum, 0) }
}

/** Returns true for the groups whose unpriced calls nobody bills. Only models tell, unless it is so of all calls. */
export function freeGroups(
  { summary }: Pick<SpendAnswer<unknown>, 'summary'>,
  by: CompareBy,
  free: FreeCalls | null,
): (group: NamedGroup) => boolean {
  const areAll = free !== null && free.calls >= summary.unpriced_calls
  return (group) => areAll || (by === 'model' && free !== null && isAmong(free.models, group))
}

/** A row of the table: the spend of a group, now and before. */
export interface SpendRow {
  readonly now: SpendGroup
  /** The figures of the period before; null without calls, or if that period is unknown. */
  readonly before: SpendFigures | null
  /** The share of all spend, 0 to 1; null without a price. */
  readonly share: number | null
  /** The number of unpriced calls that nobody bills. */
  readonly freeCalls: number
}

/** Returns the rows by cost, highest first; groups without a price follow by their number of calls. */
export function spendRows(
  now: SpendAnswer<SpendGroup>,
  before: SpendAnswer<SpendGroup> | null,
  isFree: (group: NamedGroup) => boolean = () => false,
): readonly SpendRow[] {
  const past = new Map(before?.groups.map((group) => [idOf(group), group]))
  const total = now.summary.cost_usd ?? 0
  return now.groups
    .map((group) => ({
      now: group,
      before: past.get(idOf(group)) ?? null,
      share: group.cost_usd === null ? null : total === 0 ? 0 : group.cost_usd / total,
      freeCalls: isFree(group) ? group.unpriced_calls : 0,
    }))
    .sort((a, b) => byCost(a.now, b.now))
}

function byCost(a: SpendFigures, b: SpendFigures): number {
  return (b.cost_usd ?? -1) - (a.cost_usd ?? -1) || b.calls - a.calls
}

/** Returns the sum of the known costs; null if none is known. */
export function sumOf(values: readonly (number | null)[]): number | null {
  const costs = values.filter((value) => value !== null)
  return costs.length === 0 ? null : costs.reduce((sum, value) => sum + value, 0)
}
