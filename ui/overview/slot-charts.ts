import { axisCount, axisDuration } from '../charts/chart-scale.ts'
import { type ChartPanel, type ChartSeries, type PanelFigure, bars } from '../charts/chart-series.ts'
import { withEnoughCalls, minSample, whyMissing } from '../charts/small-sample.ts'
import type { TimeFrame } from '../charts/time-frame.ts'
import { count, counted, orDash, percent, unknownFigure, wait } from '../format/figures.ts'
import type { Overview } from '../../src/api/overview.ts'
import { slotColumns } from './overview-time.ts'

/** The share of time with all slots in use from which the view shows queue and wait in colour. */
const tellingShare = 0.05
/** The shortest noticeable wait. */
const tellingWaitMs = 100

/** The height of each plot, which the figure beside it needs. */
const rowPx = 52

/**
 * Returns a panel for slots in use, the time with all in use, waiting calls, and their waits. The later panels
 * appear only if they have noticeable values. The limit belongs to one upstream, so with several (`isOfAll`) there is
 * no limit.
 */
export function slotPanels(
  answer: Overview,
  frame: TimeFrame,
  isOfAll: boolean = false,
): readonly ChartPanel[] {
  const { buckets, slots, totals } = answer
  const { n, p95, max } = totals.queue_ms
  const { active, queued, atLimit, limit } = slotColumns(answer)
  // More slots in use than one upstream has mean that there were several.
  const areSeveral = isOfAll || active.some((value, at) => (value ?? 0) > (limit[at] ?? Infinity))
  const limits = areSeveral ? limit.map(() => null) : limit
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
  // A wait below a millisecond gets no bar.
  const waits = withEnoughCalls('p95', buckets.queue_p95_ms, buckets.queue_n).map((ms) =>
    ms !== null && ms < 1 ? 0 : ms,
  )
  /**
   * Returns the highest value; `null`, not 0, if calls of the range waited. Their minute is then not reported yet,
   * or was lost.
   */
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
  /** An unknown share counts as full. */
  const isFull = (fullShare ?? 1) >= tellingShare
  const hasWaits = mostQueued !== 0 || (max ?? 0) >= tellingWaitMs
  const waitColour = isFull ? 'queue' : 'edge'
  const room = { frame, heightPx: rowPx }
  const panels: readonly (ChartPanel | false)[] = [
    {
      ...room,
      linear: { leastTop: 1, isInteger: true, maxTicks: 3 },
      axis: axisCount,
      figure: {
        value:
          orDash(mostActive, count) +
          (mostActive === null || limitThen === null ? '' : ` of ${count(limitThen)}`),
        words: hasWaits ? 'peak slots in use' : 'peak slots in use · no waiting',
      },
      series: [
        ...(mostLimit === null ? [] : [limitLine]),
        { ...bars('active', 'In use', 'p50', active, count), isSoft: true },
      ],
    },
    isFull && {
      ...room,
      linear: { leastTop: 0.2, maxTicks: 2 },
      axis: percent,
      figure: {
        value: orDash(fullShare, percent),
        words: 'of the time at capacity',
        isTelling: fullShare !== null,
      },
      series: [bars('at_limit', 'All in use', 'edge', atLimit, percent)],
    },
    hasWaits && {
      ...room,
      linear: { leastTop: 2, isInteger: true, maxTicks: 2 },
      axis: axisCount,
      figure: {
        value: orDash(mostQueued, (calls) => counted(calls, 'call')),
        words: 'longest queue',
        isTelling: isFull && mostQueued !== null,
      },
      series: [bars('waiting', 'Waiting', waitColour, queued, count)],
    },
    hasWaits && {
      ...room,
      linear: { leastTop: tellingWaitMs, isTime: true, maxTicks: 2 },
      axis: axisDuration,
      figure: waitFigure(n, p95, max, isFull),
      series: [
        {
          ...bars('wait', 'Wait p95', waitColour, waits, wait),
          missing: (index) => whyMissing('p95', buckets.queue_n[index] ?? 0),
        },
      ],
    },
  ]
  return panels.filter((panel) => panel !== false)
}

function mostOf(values: readonly (number | null)[]): number | null {
  return values.reduce((most, value) => (value === null ? most : Math.max(most ?? 0, value)), null)
}

function leastOf(values: readonly (number | null)[]): number | null {
  const numbers = values.filter((value) => value !== null)
  return numbers.length === 0 ? null : Math.min(...numbers)
}

function waitFigure(n: number, p95: number | null, max: number | null, isFull: boolean): PanelFigure {
  if (n >= minSample.p95 && p95 !== null) {
    const words = max === null ? 'p95 wait for a slot' : `p95 wait, longest ${wait(max)}`
    return { value: wait(p95), words, isTelling: isFull && p95 >= tellingWaitMs }
  }
  if (max === null) return { value: unknownFigure, words: 'wait for a slot' }
  const words = `longest wait of ${counted(n, 'call')}`
  return { value: wait(max), words, isTelling: isFull && max >= tellingWaitMs }
}
