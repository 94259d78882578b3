import { axisCount, axisDuration } from '../charts/axis-words.ts'
import type { ChartPart, PartFigure } from '../charts/chart-part.ts'
import type { ChartSeries } from '../charts/chart-series.ts'
import { honestColumn, leastCalls, whyMissing } from '../charts/small-sample.ts'
import type { TimeFrame } from '../charts/time-frame.ts'
import { count, counted, duration, percent, unknownFigure } from '../format/figures.ts'
import type { Overview } from '../../src/api/overview.ts'
import { slotColumns } from './overview-time.ts'

/** From here on a share of the time with every slot in use, a wait, or a queue is out of the ordinary. */
const tellingShare = 0.05
const tellingWaitMs = 100
const tellingQueue = 5

/** A wait in words: below a millisecond nobody waited. */
export function waitWords(ms: number): string {
  return ms < 1 ? '<1\u202fms' : duration(ms)
}

/**
 * Calls at once: those in flight, and upon them those that waited because every slot was in use. Below, for how much
 * of the time that was so, and how long calls waited. `limitNow` stands in where an older gateway did not note its
 * limit.
 */
export function slotParts(answer: Overview, frame: TimeFrame, limitNow: number | null): readonly ChartPart[] {
  const { buckets } = answer
  const { active, queued, atLimit, limit } = slotColumns(answer)
  const limits = limit.some((value) => value !== null) ? limit : buckets.start_s.map(() => limitNow)
  const limitSeries: ChartSeries = {
    key: 'limit',
    words: 'Slots',
    colour: 'p99',
    kind: 'line',
    isDashed: true,
    values: limits,
    show: count,
  }
  return [
    {
      frame,
      heightPx: 104,
      linear: { leastTop: 1, isWhole: true },
      axis: axisCount,
      figure: queueFigure(answer),
      series: [
        ...(limits.some((value) => value !== null) ? [limitSeries] : []),
        {
          key: 'waiting',
          words: 'Waiting',
          colour: 'queue',
          kind: 'bars',
          standsOn: 'active',
          values: queued,
          show: count,
        },
        {
          key: 'active',
          words: 'In flight',
          colour: 'p50',
          kind: 'bars',
          isSoft: true,
          values: active,
          show: count,
        },
      ],
    },
    {
      frame,
      heightPx: 44,
      linear: { leastTop: 0.2, maxTicks: 1 },
      axis: (value) => (value === 0 ? '' : percent(value)),
      figure: limitFigure(answer),
      series: [
        {
          key: 'at_limit',
          words: 'Every slot in use',
          colour: 'edge',
          kind: 'bars',
          values: atLimit,
          show: percent,
        },
      ],
    },
    {
      frame,
      heightPx: 64,
      linear: { leastTop: tellingWaitMs, maxTicks: 2 },
      axis: axisDuration,
      figure: waitFigure(answer),
      series: [
        {
          key: 'wait',
          words: 'Queue wait p95',
          colour: 'queue',
          kind: 'line',
          fillTo: 'bottom',
          values: honestColumn('p95', buckets.queue_p95_ms, buckets.queue_n),
          show: waitWords,
          missing: (index) => whyMissing('p95', buckets.queue_n[index] ?? 0),
        },
      ],
    },
  ]
}

function queueFigure({ slots }: Overview): PartFigure {
  const known = slots.queued_max.filter((value) => value !== null)
  const most = known.length === 0 ? null : Math.max(...known)
  if (most === null) return { value: unknownFigure, words: 'the queue is not known', isTelling: false }
  if (most === 0) return { value: 'No queue', words: 'no call had to wait for a slot', isTelling: false }
  return { value: counted(most, 'call'), words: 'waited at once, at most', isTelling: most >= tellingQueue }
}

function limitFigure({ slots: { at_limit_share_total: share } }: Overview): PartFigure {
  return {
    value: share === null ? unknownFigure : percent(share),
    words: 'of the time at the limit, every slot in use',
    isTelling: (share ?? 0) >= tellingShare,
  }
}

function waitFigure({ totals: { queue_ms } }: Overview): PartFigure {
  const { n, p95, max } = queue_ms
  if (n >= leastCalls.p95 && p95 !== null) {
    return {
      value: waitWords(p95),
      words: max === null ? 'queue wait p95' : `queue wait p95, longest ${waitWords(max)}`,
      isTelling: p95 >= tellingWaitMs,
    }
  }
  if (max === null) return { value: unknownFigure, words: 'queue wait', isTelling: false }
  return {
    value: waitWords(max),
    words: `longest queue wait of ${counted(n, 'call')}`,
    isTelling: max >= tellingWaitMs,
  }
}
