import type { CostMatches } from '../../src/api/costs.ts'
import type { OverviewModel } from '../../src/api/overview.ts'
import { count } from '../format/figures.ts'
import { type QuestionTime, timeQuery } from './page-range.ts'

/** Returns the API path for the prices of a range's calls. */
export function matchesPath(time: QuestionTime): string {
  return `/api/costs/matches?${timeQuery(time)}`
}

/** Returns the models whose unpriced calls all ran on the user's own machines, so that nobody bills them. */
export function freeModels(matches: CostMatches['matches']): ReadonlySet<string | null> {
  const unpriced = matches.filter(({ unpriced_calls: calls }) => calls > 0)
  const billed = unpriced.filter(({ price }) => 'key' in price || price.none !== 'local')
  return new Set(unpriced.map(({ model }) => model)).difference(new Set(billed.map(({ model }) => model)))
}

/** The unpriced calls that nobody bills. */
export interface FreeCalls {
  readonly models: ReadonlySet<string | null>
  readonly calls: number
}

/** A model's calls without a price. */
export type UnpricedModel = Pick<OverviewModel, 'model' | 'unpriced_calls'>

/**
 * Returns which of a view's unpriced calls nobody bills. The view may leave out models, and the matches of prices
 * ignore all filters but `chosen` models, so the smaller of both counts of the other unpriced calls is right.
 */
export function freeCalls(
  unpriced: number,
  listed: readonly UnpricedModel[],
  answer: CostMatches | null,
  chosen: readonly string[],
): FreeCalls {
  const matches = answer?.matches ?? []
  const models = freeModels(matches)
  const isFree = ({ model }: UnpricedModel): boolean => models.has(model)
  const isChosen = ({ model }: UnpricedModel): boolean => chosen.length === 0 || chosen.includes(model ?? '')
  const sum = (groups: readonly UnpricedModel[]): number =>
    groups.reduce((all, { unpriced_calls: calls }) => all + calls, 0)
  const free = sum(listed.filter(isFree))
  if (answer === null || answer.counted_from !== null) return { models, calls: free }
  const billed = sum(matches.filter((match) => isChosen(match) && !isFree(match)))
  return { models, calls: Math.max(free, unpriced - billed) }
}

/**
 * Returns the number of calls without a price in words, of which nobody bills `free`: `3 unpriced`, `2 self-hosted`.
 * The words are empty while `free` is unknown, because most of the calls may turn out to be self-hosted.
 */
export function unpricedWords(calls: number, free: number | null, prefix = ''): string {
  if (free === null) return ''
  return `${prefix}${calls > free ? `${count(calls - free)} unpriced` : `${count(calls)} self-hosted`}`
}
