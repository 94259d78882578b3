import { axisCount, axisDuration } from '../charts/chart-scale.ts'
import { type ChartPanel, type ChartSeries, type PanelFigure, bars } from '../charts/chart-series.ts'
import { withEnoughCalls, minSample, whyMissing } from '../charts/small-sample.ts'
import type { TimeFrame } from '../charts/time-frame.ts'
import { count, counted, known, percent, unknownFigure, wait } from '../format/figures.ts'
import type { Overview } from '../../src/api/overview.ts'
import { slotColumns } from './overview-time.ts'

/** From here on a share of the time with every slot in use, a wait, or a queue is out of the ordinary. */
const tellingShare = 0.05
const tellingWaitMs = 100
const tellingQueue = 5

/** Of each plot, in pixels: the figure beside it needs as much. */
const rowPx = 52

/**
 * One plot each for what it comes to: slots in use, for how much of the time all were in use, how many calls waited
 * because of it, and for how long. `limitNow` stands in where an older gateway did not note its limit.
 */
export function slotPanels(
  answer: Overview,
  frame: TimeFrame,
  limitNow: number | null,
): readonly ChartPanel[] {
  const { buckets, slots, totals } = answer
  const { n, p95, max } = totals.queue_ms
  const { active, queued, atLimit, limit } = slotColumns(answer)
  const limits = limit.some((value) => value !== null) ? limit : buckets.start_s.map(() => limitNow)
  const limitLine: ChartSeries = {
    key: 'limit',
    words: 'Slots',
    colour: 'p99',
    kind: 'line',
    isDashed: true,
    isStepped: true,
    values: limits,
    show: count,
  }
  // What is below a millisecond is no wait, and no bar.
  const waits = withEnoughCalls('p95', buckets.queue_p95_ms, buckets.queue_n).map((ms) =>
    ms !== null && ms < 1 ? 0 : ms,
  )
  /** The highest value; `null`, not 0, if calls of the range waited: their minute has not been reported, or was lost. */
  const knownMost = (values: readonly (number | null)[]): number | null => {
    const most = mostOf(values)
    return most === 0 && (max ?? 0) >= tellingWaitMs ? null : most
  }
  const mostActive = knownMost(slots.active_max)
  const mostLimit = mostOf(limits)
  // The limit may have been another one when most slots were in use.
  const limitThen = leastOf(limits.filter((_, at) => active[at] === mostActive))
  const fullShare = knownMost([slots.at_limit_share_total])
  const mostQueued = knownMost(slots.queued_max)
  const room = { frame, heightPx: rowPx }
  return [
    {
      ...room,
      linear: { leastTop: 1, isWhole: true, maxTicks: 3 },
      axis: axisCount,
      figure: {
        value:
          known(mostActive, count) +
          (mostActive === null || limitThen === null ? '' : ` of ${count(limitThen)}`),
        words: 'peak slots in use',
      },
      series: [
        ...(mostLimit === null ? [] : [limitLine]),
        { ...bars('active', 'In use', 'p50', active, count), isSoft: true },
      ],
    },
    {
      ...room,
      linear: { leastTop: 0.2, maxTicks: 2 },
      axis: percent,
      figure: {
        value: known(fullShare, percent),
        words: 'of the time at capacity',
        isTelling: (fullShare ?? 0) >= tellingShare,
      },
      series: [bars('at_limit', 'All in use', 'edge', atLimit, percent)],
    },
    {
      ...room,
      linear: { leastTop: 2, isWhole: true, maxTicks: 2 },
      axis: axisCount,
      figure: {
        value: mostQueued === 0 ? 'No queue' : known(mostQueued, (calls) => counted(calls, 'call')),
        words: mostQueued === 0 ? 'no waiting' : 'longest queue',
        isTelling: (mostQueued ?? 0) >= tellingQueue,
      },
      series: [bars('waiting', 'Waiting', 'queue', queued, count)],
    },
    {
      ...room,
      linear: { leastTop: tellingWaitMs, maxTicks: 2 },
      axis: axisDuration,
      figure: waitFigure(n, p95, max),
      series: [
        {
          ...bars('wait', 'Wait p95', 'queue', waits, wait),
          missing: (index) => whyMissing('p95', buckets.queue_n[index] ?? 0),
        },
      ],
    },
  ]
}

function mostOf(values: readonly (number | null)[]): number | null {
  return values.reduce((most, value) => (value === null ? most : Math.max(most ?? 0, value)), null)
}

function leastOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : Math.min(...known)
}

function waitFigure(n: number, p95: number | null, max: number | null): PanelFigure {
  if (n >= minSample.p95 && p95 !== null) {
    const words = max === null ? 'wait for a slot, p95' : `wait p95, longest ${wait(max)}`
    return { value: wait(p95), words, isTelling: p95 >= tellingWaitMs }
  }
  if (max === null) return { value: unknownFigure, words: 'wait for a slot' }
  return { value: wait(max), words: `longest wait of ${counted(n, 'call')}`, isTelling: max >= tellingWaitMs }
}
