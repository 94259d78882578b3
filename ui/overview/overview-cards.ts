import type { AlertSetting } from '../../src/api/alerts.ts'
import type { Overview, OverviewMeasure, OverviewTotals } from '../../src/api/overview.ts'
import type { ColourName } from '../charts/palette.ts'
import { honest, withEnoughCalls, minSample } from '../charts/small-sample.ts'
import { costPerThousand } from '../format/cost-per-thousand.ts'
import {
  count,
  counted,
  dollars,
  duration,
  orDash,
  percent,
  savedWords,
  speed,
  unknownFigure,
} from '../format/figures.ts'
import { type Change, type Compared, changeOf } from '../format/change.ts'
import type { FigureCard } from '../design/figure-cards.tsx'
import { unpricedWords } from '../data/free-calls.ts'
import { timedCalls } from './overview-question.ts'

/** A figure at the top of the view, with its course over time. */
export interface OverviewCard extends FigureCard {
  readonly course: readonly (number | null)[]
  readonly colour: ColourName
}

/**
 * Returns a function that computes changes against the previous period. The parameter `calls` returns the number of
 * calls behind a figure.
 */
function changesOf({ totals, previous }: Overview) {
  return (
    figure: (totals: OverviewTotals) => number | null,
    options: Pick<Compared, 'better' | 'show' | 'isShare'>,
    calls: (totals: OverviewTotals) => number = (totals) => totals.calls,
  ): Change | null => {
    if (previous === null) return null
    const [now, before] = [figure(totals), figure(previous)]
    return changeOf({ now, before, nNow: calls(totals), nBefore: calls(previous), ...options })
  }
}

/** The alert rules by code: failed calls (percent), late first tokens (factor) and a day's spend (USD). */
export type AlertRules = Readonly<Record<string, AlertSetting>>

/** The least calls for a share, and the least delay of first tokens (ms), as in the alert rules. */
const [minAlertCalls, leastLateMs] = [20, 500]

/** Returns the colours of figures at which an alert rule would report, if all calls of the range were in its window. */
function tonesOf(
  { totals, previous, from, to }: Overview,
  rules: AlertRules,
): Readonly<Record<'errors' | 'first' | 'cost', FigureCard['tone']>> {
  // A rule that is off has no threshold.
  const thresholdOf = (code: string): number => (rules[code]?.on === true ? rules[code].threshold : Infinity)
  const rate = totals.error_rate ?? 0
  // As in the rule, calls whose client left do not count.
  const answered = rate === 0 ? 0 : Math.round(totals.errors / rate)
  const [first, before] = [totals.ttft_ms, previous?.ttft_ms]
  const isLate =
    first.n >= minAlertCalls &&
    (before?.n ?? 0) >= 5 * minAlertCalls &&
    (first.p95 ?? 0) >= thresholdOf('slow_first_token') * (before?.p95 ?? Infinity) &&
    (first.p95 ?? 0) - (before?.p95 ?? 0) >= leastLateMs
  const days = Math.max(1, (Date.parse(to) - Date.parse(from)) / dayMs)
  return {
    errors: answered >= minAlertCalls && rate * 100 >= thresholdOf('error_ratio') ? 'bad' : undefined,
    first: isLate ? 'warn' : undefined,
    cost: (totals.cost_usd ?? 0) / days >= thresholdOf('spend_day') ? 'warn' : undefined,
  }
}

/**
 * Returns the cards of the most important figures. Without alert rules, they have no colours. Nobody bills
 * `freeCalls` of the unpriced calls; null while unknown.
 */
export function overviewCards(
  answer: Overview,
  rules: AlertRules = {},
  freeCalls: number | null = 0,
): readonly OverviewCard[] {
  const tones = tonesOf(answer, rules)
  const { totals, buckets } = answer
  const { calls, cost_usd: usd, unpriced_calls: unpriced, ttft_total_ms: withWait } = totals
  const medianSpeed = totals.output_tokens_per_s.p50
  const timed = timedCalls(answer)
  const change = changesOf(answer)
  return [
    {
      words: 'Requests',
      value: count(calls),
      change: change((totals) => totals.calls, { better: null, show: count }),
      fact: rateWords(calls, Date.parse(answer.to) - Date.parse(answer.from)),
      course: buckets.calls,
      colour: 'accent',
      to: { view: 'calls', sort: 'started_at' },
    },
    {
      words: 'Error rate',
      meaning: 'Share of calls that failed, not counting calls whose client left.',
      value: orDash(totals.error_rate, percent),
      tone: tones.errors,
      change: change((totals) => totals.error_rate, {
        better: 'lower',
        isShare: true,
        show: percent,
      }),
      fact: `${count(totals.errors)} failed`,
      course: buckets.error_rate,
      colour: 'bad',
      to: { view: 'calls', sort: 'started_at', errorsOnly: true },
    },
    {
      ...timeCard('Latency', 'duration_ms', answer),
      meaning:
        'Time from the request to the last byte of the response. p95: 95 of 100 calls were at least this fast.',
      course: withEnoughCalls('p95', buckets.duration_p95_ms, buckets.duration_n),
      colour: 'accent',
      to: { view: 'calls', sort: 'duration', ...timed },
    },
    {
      ...timeCard('First token', 'ttft_ms', answer),
      tone: tones.first,
      ...(withWait.n > 0 && {
        fact: `with queue ${measureWords(withWait, oneByOne(answer, 'ttft_total_ms')).value}`,
      }),
      meaning:
        'Time from sending a streamed call upstream to its first content. The line below counts from the call’s arrival, with its time in the queue.',
      course: withEnoughCalls('p95', buckets.ttft_p95_ms, buckets.ttft_n),
      colour: 'accent',
      to: { view: 'calls', sort: 'ttft', ...timed },
    },
    {
      words: 'Output speed',
      meaning:
        'Median output tokens per second after the first token, of streamed calls and of calls whose upstream reports its generation time.',
      value: orDash(medianSpeed, speed),
      ...(medianSpeed !== null && { unit: 'tok/s' }),
      change: change(
        ({ output_tokens_per_s }) => output_tokens_per_s.p50,
        { better: 'higher', show: speed },
        ({ output_tokens_per_s }) => output_tokens_per_s.n,
      ),
      fact: `${count(totals.output_tokens)} tokens out`,
      course: withEnoughCalls('p50', buckets.speed_p50, buckets.speed_n),
      colour: 'stream',
      to: { view: 'calls', sort: 'started_at', ...timed },
    },
    {
      words: 'Cached input',
      meaning:
        'Share of input tokens that upstreams read from their caches, of calls with reported usage. The line below is the cost that this saved.',
      value: orDash(totals.cached_share, percent),
      change: change(({ cached_share }) => cached_share, { better: 'higher', isShare: true, show: percent }),
      fact: savedWords(totals.cache_saved_usd),
      course: buckets.cached_share,
      colour: 'first',
      to: { view: 'calls', sort: 'started_at' },
    },
    {
      words: 'Cost',
      value: orDash(usd, dollars),
      tone: tones.cost,
      change: change(({ cost_usd }) => cost_usd, { better: null, show: dollars }),
      fact:
        unpriced > 0
          ? unpricedWords(unpriced, freeCalls, usd === null ? '' : '+ ')
          : usd === null
            ? ''
            : `${orDash(costPerThousand(totals), dollars)} per 1,000 calls`,
      course: buckets.cost_usd,
      colour: 'cost',
      to: { view: 'calls', sort: 'cost' },
    },
  ]
}

type TimeName = 'duration_ms' | 'ttft_ms' | 'ttft_total_ms'

/**
 * Returns the text of a time with its change: the p95, or with too few calls a simpler figure. Only two p95 are
 * compared.
 */
function timeCard(
  words: string,
  name: TimeName,
  answer: Overview,
): Pick<OverviewCard, 'words' | 'value' | 'change' | 'fact'> {
  const p95 = ({ [name]: { p95, n } }: OverviewTotals): number | null => honest('p95', p95, n)
  const { [name]: measure } = answer.totals
  return {
    words: measure.n >= minSample.p95 ? `${words} p95` : words,
    ...measureWords(measure, oneByOne(answer, name)),
    change: changesOf(answer)(p95, { better: 'lower', show: duration }, ({ [name]: { n } }) => n),
  }
}

/**
 * Returns the text of a measure: its p95. With few calls, the text is the lowest and highest of `values` if they
 * are complete, or the median, or the longest time.
 */
export function measureWords(
  { n, p50, p95, max }: OverviewMeasure,
  values: readonly number[],
): Pick<FigureCard, 'value' | 'fact'> {
  if (n === 0 || max === null) return { value: unknownFigure, fact: 'no calls' }
  const [median, most] = [honest('p50', p50, n), honest('p95', p95, n)]
  if (most !== null) return { value: duration(most), fact: `p50 ${orDash(p50, duration)}` }
  if (values.length === n) {
    return { value: spanOf(Math.min(...values), Math.max(...values)), fact: counted(n, 'call') }
  }
  return median === null
    ? { value: `≤ ${duration(max)}`, fact: counted(n, 'call') }
    : { value: duration(median), fact: `median of ${count(n)} calls` }
}

/** Returns a span with a shared unit: `0.8–2.1 s`. */
function spanOf(least: number, most: number): string {
  const [from, to] = [duration(least), duration(most)]
  if (least === most) return to
  const [, unit = '', more] = to.split(' ')
  // A span from milliseconds to seconds is in seconds, because there is no room for two units.
  if (from.endsWith(' ms') && unit === 's' && more === undefined)
    return `${(least / 1000).toPrecision(least < 100 ? 1 : 2)}–${to}`
  const isShared = more === undefined && from.endsWith(` ${unit}`)
  return `${isShared ? from.slice(0, -unit.length - 1) : from}–${to}`
}

/** Returns the values of all calls, if the list of the slowest has them all; else an empty list. */
function oneByOne({ slowest, totals }: Overview, name: TimeName): readonly number[] {
  if (totals.duration_ms.n > slowest.length) return []
  return slowest.map((call) => call[name]).filter((value) => value !== null)
}

const dayMs = 86_400_000

const rateUnits = [
  [60_000, 'min'],
  [3_600_000, 'hour'],
  [dayMs, 'day'],
] as const

/**
 * Returns the rate in the shortest unit (minute, hour or day) with at least one call. No unit is longer than the
 * range.
 */
export function rateWords(calls: number, rangeMs: number): string {
  if (calls === 0) return 'no calls'
  const rateOf = (unitMs: number): number => (calls * unitMs) / rangeMs
  const units = rateUnits.filter(([unitMs]) => unitMs <= rangeMs * 1.001)
  const [unitMs, words] = units.find(([unitMs]) => rateOf(unitMs) >= 1) ?? units.at(-1) ?? rateUnits[0]
  const rate = rateOf(unitMs)
  return `${rate < 10 ? Number(rate.toPrecision(2)) : count(Math.round(rate))} per ${words}`
}
