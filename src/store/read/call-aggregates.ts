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
import { dimensionFields } from './call-dimensions.ts'
import { selectionOf } from './call-selection.ts'
import type { CallWords } from './call-text.ts'
import type { FigureGroup, GroupSums } from './sums-by-group.ts'
import type { FigureQuestion, FigureReader } from './figure-reader.ts'
import { curvesOf, emptyFigures, groupFigures } from './group-figures.ts'
import { Figures } from '../rollup/rollup-figures.ts'
import { otherId } from '../rollup/groupings.ts'

/** More buckets than these are asked for once more as a whole. */
const mergedBuckets = 200

/** Answers a question about many calls in the words of its asker. */
export function aggregate(
  { filter, edgesMs, dimension, top, durationLimitsMs, isSumsOnly, timesFailed, withCurves }: CallQuestion,
  figures: FigureReader,
  words: CallWords,
): CallAnswer {
  const { fromMs: _from, toMs: _to, ...timeless } = filter
  const selection = selectionOf(timeless, words)
  if (selection === null) return { groups: [], summary: emptyFigures }
  const { ids, rowCondition, index } = selection
  const question: FigureQuestion = {
    edgesMs,
    filter: ids,
    rowCondition,
    dimension,
    ...(index && { index }),
    ...(timesFailed && { timesFailed, index: index ?? 'calls_failed' }),
    ...(top !== undefined && { top }),
    ...(isSumsOnly && { isSumsOnly }),
  }
  // Without time and dimension wider spans and fewer keys do, which is less work than merging very many groups.
  // Most calls have no failure code, and are no group of it.
  const isFew = edgesMs.length === 2 || (dimension === null && edgesMs.length <= mergedBuckets)
  const isMerged = (isFew || rowCondition.conditions.length > 0) && dimension !== 'failure_code'
  const ends = [edgesMs[0] ?? 0, edgesMs.at(-1) ?? 0]
  const whole: FigureQuestion = { ...question, edgesMs: ends, dimension: null }
  const [found = [], all = []] = figures.ask(isMerged ? [question] : [question, whole])
  const total = new Figures()
  for (const { figures: parts } of all) parts.addTo(total)
  const limitsUs = durationLimitsMs?.map((limitMs) => limitMs * 1000)
  const groups = withTop(found, top, isUnbounded(dimension)).map(({ bucket, entry, isRest, parts }) => {
    const sums = mergedFigures(parts)
    if (isMerged) total.merge(sums)
    const group: CallGroup = {
      bucket,
      entry: entry === null || dimension === null ? null : wordOf(words, dimension, entry),
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

function inOrder(one: CallGroup, other: CallGroup): number {
  return (
    one.bucket - other.bucket ||
    Number(one.isRest) - Number(other.isRest) ||
    other.figures.calls - one.figures.calls ||
    (String(one.entry) < String(other.entry) ? -1 : 1)
  )
}

/** Used again for each group. */
const sums = new Figures()

function mergedFigures(parts: readonly GroupSums[]): Figures {
  sums.clear()
  for (const part of parts) part.addTo(sums)
  return sums
}

function wordOf(words: CallWords, dimension: CallDimension, entry: number): string | number | null {
  const key = tagOf(dimension)
  if (key !== null) return words.wordOf('tags', entry)?.slice(key.length + 1) ?? null
  const { table, codes } = dimensionFields[dimension as FieldDimension]
  if (table !== undefined) return words.wordOf(table, entry)
  return codes === undefined ? entry : (Object.keys(codes).find((text) => codes[text] === entry) ?? null)
}

interface RankedGroup extends Pick<FigureGroup, 'bucket' | 'entry'> {
  readonly isRest: boolean
  readonly parts: GroupSums[]
}

/** Puts the groups of all but the `top` entries with the most calls together, bucket by bucket. */
function withTop(
  groups: readonly FigureGroup[],
  top: number | undefined,
  isEndlessly: boolean,
): readonly RankedGroup[] {
  const callsOf = new Map<number | null, number>()
  for (const { entry, figures } of groups) {
    callsOf.set(entry, (callsOf.get(entry) ?? 0) + figures.sum('calls'))
  }
  const ranked = [...callsOf].sort(([a, some], [b, others]) => others - some || (a ?? -1) - (b ?? -1))
  const named = isEndlessly ? ranked.filter(([entry]) => entry !== null && entry !== otherId) : ranked
  const kept = new Set(named.slice(0, top ?? named.length).map(([entry]) => entry))
  if (isEndlessly) kept.add(null)
  kept.delete(otherId)
  const rest = new Map<number, RankedGroup>()
  const shown: RankedGroup[] = []
  for (const { bucket, entry, figures } of groups) {
    if (kept.has(entry)) shown.push({ bucket, entry, isRest: false, parts: [figures] })
    else getOrAdd(rest, bucket, () => ({ bucket, entry: null, isRest: true, parts: [] })).parts.push(figures)
  }
  return [...shown, ...rest.values()]
}
