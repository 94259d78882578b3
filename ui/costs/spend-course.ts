import { type CalendarUnit, bucketOfKey } from '../charts/calendar-frame.ts'
import { type ChartPanel, type ChartSeries, bars } from '../charts/chart-series.ts'
import { type ColourName, coloursOf, mostGroups } from '../charts/palette.ts'
import type { TimeFrame } from '../charts/time-frame.ts'
import { type CompareBy, namelessOf } from '../data/page-address.ts'
import { dollars, shortCount } from '../format/figures.ts'
import { type CourseGroup, sumOf } from './spend-figures.ts'

const heightPx = 220
/** The least top of the scale in USD. A lower top has no room for its ticks. */
const leastTopUsd = 0.001

/** The parts of a request that its answer needs to be read. */
export interface CourseQuestion {
  readonly unit: CalendarUnit
  readonly by: CompareBy
  readonly utc: boolean
}

/**
 * Returns the panel of spend over time, stacked. The six most expensive groups come first, the highest at the
 * bottom; all other groups are one series.
 */
export function spendPanel(
  frame: TimeFrame,
  groups: readonly CourseGroup[],
  question: CourseQuestion,
): ChartPanel {
  const valuesOf = (own: readonly CourseGroup[]): ChartSeries['values'] =>
    bucketSums(frame, own, question).map(({ usd }) => usd)
  const priced = groups.filter(({ cost_usd: usd }) => usd !== null)
  const columns = [...Map.groupBy(priced, (group) => keyOf(group, question.by))]
    .map(([key, own]) => ({ key, own, values: valuesOf(own) }))
    .sort((a, b) => (sumOf(b.values) ?? 0) - (sumOf(a.values) ?? 0))
  const named = columns.filter(({ key }) => key !== restKey)
  const shown = named.slice(0, mostGroups)
  const others = [...named.slice(mostGroups), ...columns.filter(({ key }) => key === restKey)]
  const keys = shown.map(({ key }) => key).reverse()
  const nameOf = (group: CourseGroup | undefined): string => group?.keys?.[question.by] ?? ''
  const allNames = groups.filter(({ rest }) => rest !== true).map(nameOf)
  const colours = coloursOf(
    shown.map(({ own: [first] }) => nameOf(first)),
    allNames,
  )
  const series = shown.map(({ key, own: [first], values }, at) => {
    const below = keys.slice(keys.length - at)
    return spendBars(key, wordsOf(first, question.by), colours.get(nameOf(first)) ?? 'edge', values, below)
  })
  if (others.length > 0) {
    const values = valuesOf(others.flatMap(({ own }) => own))
    series.push(spendBars(restKey, 'Others', 'edge', values, keys))
  }
  // An empty plot needs a series, too.
  if (series.length === 0) series.push(spendBars('spend', 'Spend', 'kind-1', valuesOf([]), []))
  return { frame, series, heightPx, linear: { leastTop: leastTopUsd }, axis: axisDollars }
}

function spendBars(
  key: string,
  words: string,
  colour: ColourName,
  values: ChartSeries['values'],
  below: readonly string[],
): ChartSeries {
  return { ...bars(key, words, colour, values, dollars, below), isSum: true }
}

/** The sum of a bucket. */
export interface BucketSum {
  readonly usd: number | null
  readonly calls: number
  readonly unpricedCalls: number
}

/** Returns the sum of each bucket, over priced and unpriced calls. */
export function bucketSums(
  frame: TimeFrame,
  groups: readonly CourseGroup[],
  { unit, utc }: CourseQuestion,
): readonly BucketSum[] {
  const byBucket = Map.groupBy(groups, ({ key, keys }) => bucketOfKey(frame, keys?.[unit] ?? key ?? '', utc))
  return frame.startsMs.map((_, bucket) => {
    const groups = byBucket.get(bucket) ?? []
    return {
      usd: sumOf(groups.map(({ cost_usd: usd }) => usd)),
      calls: groups.reduce((sum, { calls }) => sum + calls, 0),
      unpricedCalls: groups.reduce((sum, { unpriced_calls: calls }) => sum + calls, 0),
    }
  })
}

/** Returns the text of a tick: $0.02, $5, $12K. All ticks have the same number of decimals. */
export function axisDollars(usd: number, ticks: readonly number[]): string {
  if (usd === 0) return '0'
  const decimals = Math.max(...ticks.map((tick) => String(tick).split('.')[1]?.length ?? 0))
  return `$${decimals === 0 ? shortCount(usd) : usd.toFixed(Math.max(2, decimals))}`
}

const restKey = '\u0000rest'

/** Returns a key that no group's name can equal for the rest and for the group without a name. */
function keyOf({ keys, rest }: CourseGroup, by: CompareBy): string {
  if (keys === undefined) return 'spend'
  return rest === true ? restKey : `=${keys[by] ?? '\u0000none'}`
}

function wordsOf(group: CourseGroup | undefined, by: CompareBy): string {
  return group?.keys === undefined ? 'Spend' : (group.keys[by] ?? namelessOf(by))
}
