import { isYesterday } from '../data/calendar-ranges.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { useNavigation, useTimes } from '../data/navigation.tsx'
import { Icon } from '../design/icon.tsx'
import { lazyPart } from '../design/lazy-part.tsx'
import { Popover } from '../design/overlay/popover.tsx'

const RangeForm = lazyPart(async () => (await import('./range-form.tsx')).RangeForm)

/** Calendar ranges, which move with the clock. */
const calendarWords: Readonly<Record<string, string>> = { today: 'Today', month: 'This month' }

/** The button that opens the form for other ranges. */
export function RangeFilter({ isYesterdayBeside }: { readonly isYesterdayBeside: boolean }) {
  const { range, utc } = useNavigation().address
  const times = useTimes()
  const label = isYesterday(range, nowMs(), utc)
    ? isYesterdayBeside
      ? null
      : 'Yesterday'
    : range.last === null
      ? times.between(range.fromMs, range.toMs)
      : (calendarWords[range.last] ?? null)
  return (
    <Popover
      label="Custom range"
      class={`filter-choice ${label === null ? '' : 'is-set'}`}
      words={
        <>
          <Icon name="calendar" />
          <span class={label === null ? 'filter-more-words' : 'cut'}>{label ?? 'Custom'}</span>
        </>
      }
    >
      {(close) => <RangeForm onDone={close} />}
    </Popover>
  )
}
