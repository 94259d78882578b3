import { nowMs } from '../data/dashboard-clock.ts'
import { AddressLink, useNavigation, useTimes } from '../data/navigation.tsx'
import { type PageAddress, isFiltered, withoutFilters } from '../data/page-address.ts'
import { EmptyState } from './empty-state.tsx'

/** The text in place of figures that calls before `untilMs` lack, because only their totals are kept. */
export function FoldedTime({ untilMs }: { readonly untilMs: number }) {
  const { address } = useNavigation()
  const times = useTimes()
  const toMs = address.range.last === null ? Math.max(address.range.toMs, untilMs + 1) : nowMs()
  return (
    <EmptyState
      title="Part of this range is kept as totals only"
      actions={
        <>
          <ActionLink
            to={{ range: { last: null, fromMs: untilMs, toMs } }}
            words="Show range with individual calls"
          />
          {isFiltered(address) && <ActionLink to={withoutFilters(address)} words="Clear filters" />}
        </>
      }
    >
      {`Calls before ${times.full(untilMs)} were rolled up into hourly totals, which lack this information.`}
    </EmptyState>
  )
}

/** A link from an empty list to another address. */
export function ActionLink({ to, words }: { readonly to: Partial<PageAddress>; readonly words: string }) {
  return (
    <AddressLink class="button" to={to}>
      {words}
    </AddressLink>
  )
}
