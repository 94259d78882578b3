import { getOrAdd } from '../../lib/get-or-add.ts'
import {
  type CallAnswer,
  type CallDimension,
  type CallGroup,
  type CallQuestion,
  type FieldDimension,
  isUnbounded,
  tagOf,
} from '../../call/call-question.ts'
import { selectionOf } from './call-selection.ts'
import type { CallDictionary } from './call-dictionary.ts'
import type { SumGroup } from './sums-by-group.ts'
import type { SumQuestion, SumReader } from './sum-reader.ts'
import { curvesOf, emptyFigures, groupFigures } from './group-figures.ts'
import { CallSums } from '../rollup/call-sums.ts'
import { dimensionFields, otherId } from '../rollup/groupings.ts'

/** Most buckets whose sums are added up for the summary; with more, the summary is read separately. */
const mergedBuckets = 200

/**
 * Answers a question about many calls, and replaces the database's ids by words. Throws `QueryTooSlowError`
 * and `FoldedRangeError`.
 */
export function aggregate(
  { filter, edgesMs, dimension, top, durationLimitsMs, isSumsOnly, timesFailed, withCurves }: CallQuestion,
  reader: SumReader,
  words: CallDictionary,
): CallAnswer {
  const { fromMs: _from, toMs: _to, ...timeless } = filter
  const selection = selectionOf(timeless, words)
  if (selection === null) return { groups: [], summary: emptyFigures }
  const { ids, rowCondition, index } = selection
  const question: SumQuestion = {
    edgesMs,
    filter: ids,
    rowCondition,
    dimension,
    ...(index && { index }),
    ...(timesFailed && { timesFailed, index: index ?? 'calls_failed' }),
    ...(top !== undefined && { top }),
    ...(isSumsOnly && { isSumsOnly }),
  }
  // The summary of many groups is read separately, because wider cells and fewer keys are less work than
  // merging groups. Groups by failure code lack most calls.
  const isFew = edgesMs.length === 2 || (dimension === null && edgesMs.length <= mergedBuckets)
  const isMerged = (isFew || rowCondition.conditions.length > 0) && dimension !== 'failure_code'
  const ends = [edgesMs[0] ?? 0, edgesMs.at(-1) ?? 0]
  const undivided: SumQuestion = { ...question, edgesMs: ends, dimension: null }
  const [divided = [], all = []] = reader.ask(isMerged ? [question] : [question, undivided])
  const total = new CallSums()
  for (const { sums: parts } of all) total.merge(parts)
  const limitsUs = durationLimitsMs?.map((limitMs) => limitMs * 1000)
  const groups = withTop(divided, top, isUnbounded(dimension)).map(({ bucket, value, isRest, parts }) => {
    const sums = mergedFigures(parts)
    if (isMerged) total.merge(sums)
    const group: CallGroup = {
      bucket,
      value: value === null || dimension === null ? null : wordOf(words, dimension, value),
      isRest,
      figures: groupFigures(sums),
    }
    const { histogram } = sums.distributions.duration_us
    return Object.assign(
      group,
      limitsUs && { durationCounts: histogram.countsBetween(limitsUs) },
      withCurves && { curves: curvesOf(sums) },
    )
  })
  return { groups: groups.sort(inOrder), summary: groupFigures(total) }
}

function inOrder(a: CallGroup, b: CallGroup): number {
  return (
    a.bucket - b.bucket ||
    Number(a.isRest) - Number(b.isRest) ||
    b.figures.calls - a.figures.calls ||
    (String(a.value) < String(b.value) ? -1 : 1)
  )
}

/** Reused for each group. */
const sums = new CallSums()

function mergedFigures(parts: readonly CallSums[]): CallSums {
  sums.clear()
  for (const part of parts) sums.merge(part)
  return sums
}

function wordOf(words: CallDictionary, dimension: CallDimension, value: number): string | number | null {
  const key = tagOf(dimension)
  if (key !== null) return words.wordOf('tags', value)?.slice(key.length + 1) ?? null
  const { table, codes } = dimensionFields[dimension as FieldDimension]
  if (table !== undefined) return words.wordOf(table, value)
  return codes === undefined ? value : (Object.keys(codes).find((text) => codes[text] === value) ?? null)
}

interface RankedGroup extends Pick<SumGroup, 'bucket' | 'value'> {
  readonly isRest: boolean
  readonly parts: CallSums[]
}

/** Merges the groups of all values but the `top` ones with the most calls, bucket by bucket. */
function withTop(
  groups: readonly SumGroup[],
  top: number | undefined,
  isWithoutBound: boolean,
): readonly RankedGroup[] {
  const callsOf = new Map<number | null, number>()
  for (const { value, sums } of groups) {
    callsOf.set(value, (callsOf.get(value) ?? 0) + sums.sum('calls'))
  }
  const ranked = [...callsOf].sort(([a, some], [b, others]) => others - some || (a ?? -1) - (b ?? -1))
  const named = isWithoutBound ? ranked.filter(([value]) => value !== null && value !== otherId) : ranked
  const shownValues = new Set(named.slice(0, top ?? named.length).map(([value]) => value))
  if (isWithoutBound) shownValues.add(null)
  shownValues.delete(otherId)
  const rest = new Map<number, RankedGroup>()
  const shown: RankedGroup[] = []
  for (const { bucket, value, sums } of groups) {
    if (shownValues.has(value)) shown.push({ bucket, value, isRest: false, parts: [sums] })
    else getOrAdd(rest, bucket, () => ({ bucket, value: null, isRest: true, parts: [] })).parts.push(sums)
  }
  return [...shown, ...rest.values()]
}
