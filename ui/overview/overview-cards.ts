import type { Overview, OverviewCall, OverviewMeasure } from '../../src/api/overview.ts'
import type { PageAddress } from '../data/page-address.ts'
import type { ColourName } from '../charts/palette.ts'
import { honestColumn } from '../charts/small-sample.ts'
import {
  count,
  counted,
  dollars,
  duration,
  known,
  percent,
  shortCount,
  speed,
  unknownFigure,
} from '../format/figures.ts'
import { type Change, changeOf } from '../design/change.ts'
import { type Told, told } from './few-calls.ts'
import { timedCalls } from './timed-calls.ts'

/** One figure of the first row. */
export interface FigureCard {
  readonly words: string
  /** What exactly is meant. */
  readonly meaning: string
  readonly value: string
  /** Behind the value, smaller. */
  readonly unit?: string
  readonly change: Change | null
  readonly fact: string
  readonly course: readonly (number | null)[]
  readonly colour: ColourName
  /** Where its calls are. */
  readonly to: Partial<PageAddress>
}

/** The figures by which one sees whether all is well. */
export function overviewCards(answer: Overview): readonly FigureCard[] {
  return [
    requests(answer),
    errorRate(answer),
    latency(answer),
    firstToken(answer),
    outputSpeed(answer),
    cost(answer),
  ]
}

function requests(answer: Overview): FigureCard {
  const { totals, previous, buckets } = answer
  return {
    words: 'Requests',
    meaning: 'All calls that began in this time, of every kind and however they ended.',
    value: shortCount(totals.calls),
    change: changeOf({
      now: totals.calls,
      before: previous?.calls ?? null,
      nNow: totals.calls,
      nBefore: previous?.calls ?? 0,
      better: null,
      show: shortCount,
    }),
    fact: rateWords(totals.calls, recordedMs(answer)),
    course: buckets.calls,
    colour: 'accent',
    to: { view: 'calls', sort: 'started_at' },
  }
}

function errorRate({ totals, previous, buckets }: Overview): FigureCard {
  return {
    words: 'Error rate',
    meaning: 'Failed calls among all but those whose client left.',
    value: known(totals.error_rate, percent),
    change: changeOf({
      now: totals.error_rate,
      before: previous?.error_rate ?? null,
      nNow: totals.calls,
      nBefore: previous?.calls ?? 0,
      better: 'lower',
      isShare: true,
      show: percent,
    }),
    fact: `${count(totals.errors)} failed`,
    course: buckets.error_rate,
    colour: 'bad',
    to: { view: 'calls', sort: 'started_at', errorsOnly: true },
  }
}

function latency(answer: Overview): FigureCard {
  const { totals, previous, buckets } = answer
  return {
    ...timeCard(
      'Latency',
      totals.duration_ms,
      previous?.duration_ms ?? null,
      oneByOne(answer, 'duration_ms'),
    ),
    meaning: 'From the request to the last byte of the answer. 95 of 100 calls took no longer than p95.',
    course: honestColumn('p95', buckets.duration_p95_ms, buckets.duration_n),
    colour: 'accent',
    to: { view: 'calls', sort: 'duration', ...timedCalls(answer) },
  }
}

function firstToken(answer: Overview): FigureCard {
  const { totals, previous, buckets } = answer
  const card = timeCard(
    'First token',
    totals.ttft_total_ms,
    previous?.ttft_total_ms ?? null,
    oneByOne(answer, 'ttft_total_ms'),
  )
  const upstream = toldWords(told(totals.ttft_ms, oneByOne(answer, 'ttft_ms'))).value
  return {
    ...card,
    fact: totals.ttft_ms.n === 0 ? card.fact : `upstream ${upstream}`,
    meaning:
      'From when a call came, its wait for a slot included, to the first content; below it, from when the upstream was asked. Of streamed calls.',
    course: honestColumn('p95', buckets.ttft_total_p95_ms, buckets.ttft_total_n),
    colour: 'accent',
    to: { view: 'calls', sort: 'ttft', ...timedCalls(answer) },
  }
}

function outputSpeed(answer: Overview): FigureCard {
  const { totals, previous, buckets } = answer
  const { n, p50 } = totals.output_tokens_per_s
  const before = previous?.output_tokens_per_s
  return {
    words: 'Output speed',
    meaning:
      'Median over calls whose upstream told how long it generated, or that were streamed: from the first token on.',
    value: known(p50, speed),
    ...(p50 === null ? {} : { unit: 'tok/s' }),
    change: changeOf({
      now: p50,
      before: before?.p50 ?? null,
      nNow: n,
      nBefore: before?.n ?? 0,
      better: 'higher',
      show: speed,
    }),
    fact: `${shortCount(totals.output_tokens)} tokens out`,
    course: honestColumn('p50', buckets.speed_p50, buckets.speed_n),
    colour: 'stream',
    to: { view: 'calls', sort: 'started_at', ...timedCalls(answer) },
  }
}

function cost({ totals, previous, buckets }: Overview): FigureCard {
  const { cost_usd: costUsd, unpriced_calls: unpriced, calls } = totals
  return {
    words: 'Cost',
    meaning: 'Tokens times their price. Calls without a price are counted beside it, never as nothing.',
    value: known(costUsd, dollars),
    change: changeOf({
      now: costUsd,
      before: previous?.cost_usd ?? null,
      nNow: calls,
      nBefore: previous?.calls ?? 0,
      better: null,
      show: dollars,
    }),
    fact:
      unpriced > 0
        ? `${costUsd === null ? '' : '+ '}${shortCount(unpriced)} unpriced`
        : costUsd === null
          ? ''
          : `${dollars(costUsd / calls)} per call`,
    course: buckets.cost_usd,
    colour: 'cost',
    to: { view: 'calls', sort: 'cost' },
  }
}

function timeCard(
  words: string,
  now: OverviewMeasure,
  before: OverviewMeasure | null,
  oneByOne: readonly number[],
): Pick<FigureCard, 'words' | 'value' | 'change' | 'fact'> {
  const isKnown = now.n >= 20
  return {
    words: isKnown ? `${words} p95` : words,
    ...toldWords(told(now, oneByOne)),
    change: isKnown
      ? changeOf({
          now: now.p95,
          before: before !== null && before.n >= 20 ? before.p95 : null,
          nNow: now.n,
          nBefore: before?.n ?? 0,
          better: 'lower',
          show: duration,
        })
      : null,
  }
}

function toldWords(one: Told): Pick<FigureCard, 'value' | 'fact'> {
  switch (one.kind) {
    case 'none':
      return { value: unknownFigure, fact: 'no such call' }
    case 'p95':
      return { value: duration(one.p95), fact: `p50 ${duration(one.p50)}` }
    case 'span':
      return {
        value: one.least === one.most ? duration(one.most) : spanOf(one.least, one.most),
        fact: counted(one.n, 'call'),
      }
    case 'median':
      return { value: duration(one.p50), fact: `median of ${count(one.n)} calls` }
    case 'most':
      return { value: `≤\u202f${duration(one.most)}`, fact: counted(one.n, 'call') }
  }
}

/** `0.8 – 2.1 s`: the unit once where it is the same. */
function spanOf(least: number, most: number): string {
  const [from, to] = [duration(least), duration(most)]
  // Both in seconds, where one of them would be in milliseconds: there is no room for two units.
  if (from.endsWith('ms') && to.endsWith('\u202fs'))
    return `${(least / 1000).toPrecision(least < 100 ? 1 : 2)}–${to}`
  const unit = /\u202f\D+$/.exec(to)?.[0] ?? ''
  return `${from.endsWith(unit) && !from.includes(' ') ? from.slice(0, from.length - unit.length) : from}–${to}`
}

/** What is known of each of these calls: a few of them are all in the list of the slowest. */
function oneByOne(
  { slowest, totals }: Overview,
  measure: 'duration_ms' | 'ttft_ms' | 'ttft_total_ms',
): readonly number[] {
  if (totals.duration_ms.n > slowest.length) return []
  return slowest.map((call: OverviewCall) => call[measure]).filter((value) => value !== null)
}

const rateUnits = [
  [60_000, 'min'],
  [3_600_000, 'hour'],
  [86_400_000, 'day'],
] as const

/** For how much of its time an answer can have calls: since the first one ever, and while a gateway ran. */
export function recordedMs({ from, to, recorded_from: first, slots }: Overview): number {
  const toMs = Date.parse(to)
  const fromMs = Math.max(Date.parse(from), Date.parse(first ?? from))
  const missedMs = slots.gaps.reduce(
    (sum, gap) => sum + Math.max(0, Math.min(gap.to_s * 1000, toMs) - Math.max(gap.from_s * 1000, fromMs)),
    0,
  )
  return Math.max(toMs - fromMs - missedMs, 60_000)
}

/** Per minute, hour or day: in the first of them that has at least one call, and in none that is longer than the time. */
export function rateWords(calls: number, rangeMs: number): string {
  if (calls === 0) return 'no calls'
  const rateOf = (unitMs: number): number => (calls * unitMs) / rangeMs
  const units = rateUnits.filter(([unitMs]) => unitMs <= rangeMs * 1.001)
  const [unitMs, words] = units.find(([unitMs]) => rateOf(unitMs) >= 1) ?? units.at(-1) ?? rateUnits[0]
  const rate = rateOf(unitMs)
  return `${rate < 10 ? Number(rate.toPrecision(2)) : shortCount(Math.round(rate))} per ${words}`
}
