import type { SpendBy } from '../data/page-address.ts'
import type { ChartPart } from '../charts/chart-series.ts'
import type { ChartSeries } from '../charts/chart-series.ts'
import type { ColourName } from '../charts/palette.ts'
import { type Bounds, type TimeFrame, bucketAt } from '../charts/time-frame.ts'
import { dollars } from '../format/figures.ts'
import type { CourseGroup } from './spend-figures.ts'
import type { SpendUnit } from './spend-question.ts'

const heightPx = 220
/** Below it there is no room for the figures at the side. */
const leastTopUsd = 0.001
/** More could not be told apart by their colours. */
const colours: readonly ColourName[] = ['kind-1', 'kind-2', 'kind-3', 'kind-4', 'kind-5', 'kind-6']
const msOf: Readonly<Record<SpendUnit, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }

/** Where the bars begin, by the reader's clock or in UTC. */
export function spendFrame({ fromMs, toMs }: Bounds, unit: SpendUnit, utc: boolean): TimeFrame {
  const startsMs: number[] = []
  for (let at = startOf(fromMs, unit, utc); at < toMs; at = nextOf(at, unit, utc)) startsMs.push(at)
  return { fromMs, toMs, startsMs, bucketMs: msOf[unit] }
}

/** How the groups are to be read. */
export interface CourseQuestion {
  readonly unit: SpendUnit
  readonly by: SpendBy
  readonly utc: boolean
  /** For calls that name no model, or no client. */
  readonly nameless: string
}

/** What was spent over time: the six that cost most upon each other, the dearest below, and the others as one. */
export function spendParts(
  frame: TimeFrame,
  groups: readonly CourseGroup[],
  { unit, by, utc, nameless }: CourseQuestion,
): readonly ChartPart[] {
  const columns = new Map<
    string,
    { readonly key: CourseGroup; readonly values: (number | null)[]; sum: number }
  >()
  for (const group of groups) {
    if (group.cost_usd === null) continue
    const name = entryOf(group, by)
    const column = columns.get(name) ?? { key: group, values: frame.startsMs.map(() => null), sum: 0 }
    columns.set(name, column)
    const place = placeOf(group, frame, unit, utc)
    if (place < 0) continue
    column.values[place] = (column.values[place] ?? 0) + group.cost_usd
    column.sum += group.cost_usd
  }
  const all = [...columns].sort(([, one], [, other]) => other.sum - one.sum)
  const named = all.filter(([name]) => name !== rest)
  const shown = named.slice(0, colours.length)
  const others = [...named.slice(colours.length), ...all.filter(([name]) => name === rest)]
  const series: ChartSeries[] = shown.map(([name, { key, values }], at) => ({
    key: name,
    words: wordsOf(key, by, nameless),
    colour: colours[at] ?? 'edge',
    kind: 'bars',
    values,
    show: dollars,
    standsOn: shown
      .slice(0, at)
      .map(([below]) => below)
      .reverse(),
  }))
  if (others.length > 0) {
    series.push({
      key: rest,
      words: 'Others',
      colour: 'edge',
      kind: 'bars',
      values: frame.startsMs.map((_, place) => sumAt(others.map(([, { values }]) => values[place] ?? null))),
      show: dollars,
      standsOn: shown.map(([below]) => below).reverse(),
    })
  }
  // An empty plot has a series, too.
  if (series.length === 0) {
    series.push({
      key: 'spend',
      words: 'Spend',
      colour: 'kind-1',
      kind: 'bars',
      values: frame.startsMs.map(() => null),
      show: dollars,
    })
  }
  return [{ frame, series, heightPx, linear: { leastTop: leastTopUsd }, axis: axisDollars }]
}

/** All of one bar's time. */
export interface BucketSum {
  readonly usd: number | null
  readonly calls: number
  readonly unpricedCalls: number
}

/** What each bar comes to, priced or not. */
export function bucketSums(
  frame: TimeFrame,
  groups: readonly CourseGroup[],
  { unit, utc }: CourseQuestion,
): readonly BucketSum[] {
  const byPlace = Map.groupBy(groups, (group) => placeOf(group, frame, unit, utc))
  return frame.startsMs.map((_, place) => {
    const own = byPlace.get(place) ?? []
    return {
      usd: sumAt(own.map(({ cost_usd: usd }) => usd)),
      calls: own.reduce((sum, { calls }) => sum + calls, 0),
      unpricedCalls: own.reduce((sum, { unpriced_calls: calls }) => sum + calls, 0),
    }
  })
}

/** At the side of a plot: $0.02, $5, $1.2 K. */
export function axisDollars(usd: number): string {
  if (usd === 0) return '0'
  if (usd >= 1000) return `$${Number((usd / 1000).toPrecision(4))}\u202fK`
  if (usd >= 1 && usd % 1 === 0) return `$${usd}`
  return `$${usd < 0.01 || Math.round(usd * 1000) % 10 !== 0 ? Number(usd.toPrecision(3)) : usd.toFixed(2)}`
}

const rest = '\u0000rest'

function entryOf({ keys, rest: isRest }: CourseGroup, by: SpendBy): string {
  if (keys === undefined) return 'spend'
  return isRest === true ? rest : `=${keys[by] ?? '\u0000none'}`
}

function wordsOf({ keys }: CourseGroup, by: SpendBy, nameless: string): string {
  return keys === undefined ? 'Spend' : (keys[by] ?? nameless)
}

function placeOf({ key, keys }: CourseGroup, frame: TimeFrame, unit: SpendUnit, utc: boolean): number {
  return bucketAt(frame, instantOf(keys?.[unit] ?? key ?? '', utc))
}

/** A day is told as `2026-11-21`: the bar that has that date at noon. */
function instantOf(key: string, utc: boolean): number {
  if (key.length > 10) return Date.parse(key)
  return Date.parse(`${key}T12:00:00${utc ? 'Z' : ''}`)
}

function startOf(ms: number, unit: SpendUnit, utc: boolean): number {
  if (utc) return ms - (ms % msOf[unit])
  const date = new Date(ms)
  if (unit === 'day') date.setHours(0, 0, 0, 0)
  else if (unit === 'hour') date.setMinutes(0, 0, 0)
  else date.setSeconds(0, 0)
  return date.getTime()
}

/** A local day may be longer or shorter where the clocks change. */
function nextOf(ms: number, unit: SpendUnit, utc: boolean): number {
  if (utc || unit !== 'day') return ms + msOf[unit]
  const date = new Date(ms)
  date.setDate(date.getDate() + 1)
  return date.getTime()
}

function sumAt(values: readonly (number | null)[]): number | null {
  const told = values.filter((value) => value !== null)
  return told.length === 0 ? null : told.reduce((sum, value) => sum + value, 0)
}
