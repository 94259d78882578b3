import { useNavigation } from '../data/navigation.tsx'
import { Icon } from '../design/icon.tsx'
import { lazyPart } from '../design/lazy-part.tsx'
import { Popover } from '../design/popover.tsx'

const RangeForm = lazyPart(async () => (await import('./range-form.tsx')).RangeForm)

/** A range of two instants, if none of the usual lengths will do. */
export function RangeFilter() {
  const { range, utc } = useNavigation().address
  const { last } = range
  const words = last === 'today' ? 'Today' : last === 'month' ? 'This month' : 'Custom'
  return (
    <Popover
      label="Custom range"
      class={`filter-choice ${last === null || words !== 'Custom' ? 'is-set' : ''}`}
      words={
        <>
          <Icon name="calendar" />
          <span class="filter-range-words">{words}</span>
        </>
      }
    >
      {(close) => <RangeForm key={String(utc)} onDone={close} />}
    </Popover>
  )
}
