import { useMemo } from 'preact/hooks'
import { calendarFrame } from '../charts/calendar-frame.ts'
import { TimeChart } from '../charts/time-chart.tsx'
import type { BucketRange } from '../charts/time-frame.ts'
import { useNavigation } from '../data/navigation.tsx'
import type { FreeCalls } from '../data/free-calls.ts'
import type { CompareBy } from '../data/page-address.ts'
import { timeIn } from '../data/page-range.ts'
import { Card } from '../design/card.tsx'
import { ByChoice } from '../filters/by-choice.tsx'
import { count, counted, dollars } from '../format/figures.ts'
import { type BucketSum, bucketSums, spendPanel } from './spend-course.ts'
import { freeGroups, sumOf } from './spend-figures.ts'
import { isTooLong, unitOf } from './spend-question.ts'
import { type SpendCourse, refusalOf } from './use-costs.ts'

interface SpendChartProps {
  readonly course: SpendCourse
  /** The unpriced calls that nobody bills; null while unknown. */
  readonly free: FreeCalls | null
}

/** The chart of spend over time. */
export function SpendChart({ course, free }: SpendChartProps) {
  const { answer, path } = course
  const error = refusalOf(course)
  const drawn = useMemo(() => {
    if (answer === null || path === null) return null
    const { utc, ...bounds } = timeIn(path, 0)
    const unit = unitOf(bounds)
    const frame = calendarFrame(bounds, unit, utc)
    const by = groupIn(answer.group_by)
    const buckets = { unit, by, utc }
    const isFree = freeGroups(answer, by, free)
    const billed = answer.groups.map((group) =>
      isFree({ ...group, key: group.keys?.[by] ?? null }) ? { ...group, unpriced_calls: 0 } : group,
    )
    const sums = bucketSums(frame, billed, buckets)
    const unpriced = answer.summary.unpriced_calls
    const unbilled = free?.calls ?? 0
    return {
      panels: [spendPanel(frame, answer.groups, buckets)],
      totals: ({ first, last }: BucketRange) => sumWords(sums.slice(first, last + 1)),
      about: `per ${unit}${isTooLong(bounds) ? ', not split: the range is too long' : ''}`,
      empty:
        unpriced > unbilled
          ? `No price for ${counted(unpriced - unbilled, 'call')} with tokens`
          : unpriced > 0
            ? `${counted(unpriced, 'call')} self-hosted: no cost`
            : 'No spend in this range',
    }
  }, [answer, free?.models, free?.calls])
  if (error !== null) {
    return (
      <Card title="Spend over time" actions={<SpendByChoice />}>
        <p class="quiet">{error}</p>
      </Card>
    )
  }
  if (drawn === null) return <div class="skeleton" style={{ height: '20.5rem' }} />
  return (
    <TimeChart
      title="Spend over time"
      about={drawn.about}
      panels={drawn.panels}
      actions={<SpendByChoice />}
      count={drawn.totals}
      to={({ fromMs, toMs }) => ({ view: 'calls', sort: 'cost', range: { last: null, fromMs, toMs } })}
      empty={drawn.empty}
    />
  )
}

/** Returns the second part of a grouping; if a long range has none, the default, which its groups do not have. */
function groupIn(groupBy: string): CompareBy {
  return (groupBy.split(',')[1] ?? 'model') as CompareBy
}

/** The choice of the grouping, for the chart and the table. */
function SpendByChoice() {
  const { address, go } = useNavigation()
  return <ByChoice label="Compare by" by={address.by} onChoose={(by) => go({ by })} />
}

function sumWords(sums: readonly BucketSum[]): string {
  const calls = sums.reduce((all, cell) => all + cell.calls, 0)
  if (calls === 0) return 'no calls'
  const unpricedCalls = sums.reduce((all, cell) => all + cell.unpricedCalls, 0)
  const usd = sumOf(sums.map((cell) => cell.usd))
  return [
    ...(usd === null ? [] : [`${dollars(usd)} total`]),
    counted(calls, 'call'),
    ...(unpricedCalls > 0 ? [`${count(unpricedCalls)} unpriced`] : []),
  ].join(', ')
}
