import { useMemo } from 'preact/hooks'
import { calendarFrame } from '../charts/calendar-frame.ts'
import { TimeChart } from '../charts/time-chart.tsx'
import type { BucketRange } from '../charts/time-frame.ts'
import { useNavigation } from '../data/navigation.tsx'
import type { CompareBy } from '../data/page-address.ts'
import { timeIn } from '../data/page-range.ts'
import { Card } from '../design/card.tsx'
import { ByChoice } from '../filters/by-choice.tsx'
import { count, counted, dollars } from '../format/figures.ts'
import { type BucketSum, bucketSums, spendPanel } from './spend-course.ts'
import { sumOf } from './spend-figures.ts'
import { isTooLong, unitOf } from './spend-question.ts'
import { type SpendCourse, refusalOf } from './use-costs.ts'

/** The chart of spend over time. */
export function SpendChart({ course }: { readonly course: SpendCourse }) {
  const { answer, path } = course
  const error = refusalOf(course)
  const drawn = useMemo(() => {
    if (answer === null || path === null) return null
    const { utc, ...bounds } = timeIn(path, 0)
    const unit = unitOf(bounds)
    const frame = calendarFrame(bounds, unit, utc)
    const buckets = { unit, by: groupIn(answer.group_by), utc }
    const sums = bucketSums(frame, answer.groups, buckets)
    return {
      panels: [spendPanel(frame, answer.groups, buckets)],
      totals: ({ first, last }: BucketRange) => sumWords(sums.slice(first, last + 1)),
      about: `per ${unit}${isTooLong(bounds) ? ', not split: the range is too long' : ''}`,
      unpriced: answer.summary.unpriced_calls,
    }
  }, [answer])
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
      empty={
        drawn.unpriced > 0
          ? `No price for ${counted(drawn.unpriced, 'call')} with tokens`
          : 'No spend in this range'
      }
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
