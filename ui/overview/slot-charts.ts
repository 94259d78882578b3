import { axisCount, axisDuration } from '../charts/chart-scale.ts'
import { type ChartPart, type ChartSeries, type PartFigure, bars } from '../charts/chart-series.ts'
import { honestColumn, leastCalls, whyMissing } from '../charts/small-sample.ts'
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
export function slotParts(answer: Overview, frame: TimeFrame, limitNow: number | null): readonly ChartPart[] {
  const { buckets } = answer
  const { active, queued, atLimit, limit } = slotColumns(answer)
  const limits = limit.some((value) => value !== null) ? limit : buckets.start_s.map(() => limitNow)
  const limitLine: ChartSeries = {
    key: 'limit',
    words: 'Slots',
    colour: 'p99',
    kind: 'line',
    isDashed: true,
    values: limits,
    show: count,
  }
  // What is below a millisecond is no wait, and no bar.
  const waits = honestColumn('p95', buckets.queue_p95_ms, buckets.queue_n).map((ms) =>
    ms !== null && ms < 1 ? 0 : ms,
  )
  const room = { frame, heightPx: rowPx }
  return [
    {
      ...room,
      linear: { leastTop: 1, isWhole: true, maxTicks: 3 },
      axis: axisCount,
      figure: useFigure(answer, limits),
      series: [
        ...(limits.some((value) => value !== null) ? [limitLine] : []),
        { ...bars('active', 'In use', 'p50', active, count), isSoft: true },
      ],
    },
    {
      ...room,
      linear: { leastTop: 0.2, maxTicks: 2 },
      axis: percent,
      figure: limitFigure(answer),
      series: [bars('at_limit', 'All in use', 'edge', atLimit, percent)],
    },
    {
      ...room,
      linear: { leastTop: 2, isWhole: true, maxTicks: 2 },
      axis: axisCount,
      figure: queueFigure(answer),
      series: [bars('waiting', 'Waiting', 'queue', queued, count)],
    },
    {
      ...room,
      linear: { leastTop: tellingWaitMs, maxTicks: 2 },
      axis: axisDuration,
      figure: waitFigure(answer),
      series: [
        {
          ...bars('wait', 'Wait p95', 'queue', waits, wait),
          missing: (index) => whyMissing('p95', buckets.queue_n[index] ?? 0),
        },
      ],
    },
  ]
}

function useFigure(answer: Overview, limits: readonly (number | null)[]): PartFigure {
  const most = knownMost(answer, answer.slots.active_max)
  const limit = mostOf(limits)
  const value = known(most, count) + (most === null || limit === null ? '' : ` of ${count(limit)}`)
  return { value, words: 'slots in use at most' }
}

function queueFigure(answer: Overview): PartFigure {
  const most = knownMost(answer, answer.slots.queued_max)
  if (most === 0) return { value: 'No queue', words: 'nobody had to wait' }
  const value = most === null ? unknownFigure : counted(most, 'call')
  return { value, words: 'waited at once, at most', isTelling: (most ?? 0) >= tellingQueue }
}

/** The highest value; `null`, not 0, if calls of the range waited: their minute has not been reported, or was lost. */
function knownMost({ totals }: Overview, values: readonly (number | null)[]): number | null {
  const most = mostOf(values)
  return most === 0 && (totals.queue_ms.max ?? 0) >= tellingWaitMs ? null : most
}

function mostOf(values: readonly (number | null)[]): number | null {
  return values.reduce((most, value) => (value === null ? most : Math.max(most ?? 0, value)), null)
}

function limitFigure(answer: Overview): PartFigure {
  const share = knownMost(answer, [answer.slots.at_limit_share_total])
  return {
    value: share === null ? unknownFigure : percent(share),
    words: 'of the time all were in use',
    isTelling: (share ?? 0) >= tellingShare,
  }
}

function waitFigure({ totals: { queue_ms } }: Overview): PartFigure {
  const { n, p95, max } = queue_ms
  if (n >= leastCalls.p95 && p95 !== null) {
    return {
      value: wait(p95),
      words: max === null ? 'wait for a slot, p95' : `wait p95, longest ${wait(max)}`,
      isTelling: p95 >= tellingWaitMs,
    }
  }
  if (max === null) return { value: unknownFigure, words: 'wait for a slot' }
  return {
    value: wait(max),
    words: `longest wait of ${counted(n, 'call')}`,
    isTelling: max >= tellingWaitMs,
  }
}
