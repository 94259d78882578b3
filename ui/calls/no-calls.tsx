import type { CallsAnswer } from '../data/dashboard-api.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { AddressLink, useNavigation } from '../data/navigation.tsx'
import { type LastRange, type PageAddress, isFiltered, withoutFilters } from '../data/page-address.ts'
import { Button } from '../design/button.tsx'
import { FirstCallGuide, isUnreadable } from '../design/no-calls.tsx'
import { Nothing } from '../design/nothing.tsx'
import { counted } from '../format/figures.ts'
import type { CallList } from './use-call-list.ts'

const wider: Readonly<Partial<Record<LastRange, readonly [range: LastRange, words: string]>>> = {
  '1h': ['24h', 'the last 24 hours'],
  '6h': ['24h', 'the last 24 hours'],
  '24h': ['7d', 'the last 7 days'],
  '7d': ['30d', 'the last 30 days'],
}

function Way({ to, words }: { readonly to: Partial<PageAddress>; readonly words: string }) {
  return (
    <AddressLink class="button" to={to}>
      {words}
    </AddressLink>
  )
}

/** Says why a list is empty, and leads out of it. */
export function NoCalls({ answer }: { readonly answer: CallsAnswer }) {
  const { address } = useNavigation()
  const { summary, resolution } = answer
  if (isUnreadable(answer)) return <Nothing title="The database cannot be read">{answer.note}</Nothing>
  if (answer.available_types.length === 0) {
    return (
      <Nothing title="No calls yet">
        <FirstCallGuide />
      </Nothing>
    )
  }
  if (summary.calls > 0 && resolution !== undefined) {
    return (
      <Nothing
        title={`${counted(summary.calls, 'call')} of this time ${summary.calls === 1 ? 'is' : 'are'} kept as sums alone`}
        actions={
          <Way to={{ view: 'overview', call: null, sort: 'started_at' }} words="Show them in Overview" />
        }
      >
        They were folded away when the database was made smaller. Overview still tells their figures.
      </Nothing>
    )
  }
  const hasFilters = isFiltered(address)
  const [range, words] = (address.range.last === null ? undefined : wider[address.range.last]) ?? []
  return (
    <Nothing
      title={hasFilters ? 'No calls match' : 'No calls in this range'}
      actions={
        <>
          {hasFilters && <Way to={withoutFilters(address)} words="Clear filters" />}
          {range !== undefined && <Way to={{ range: { last: range } }} words={`Look at ${words}`} />}
        </>
      }
    >
      {address.q !== ''
        ? 'No call of this range has exactly this id, error code or trace.'
        : hasFilters
          ? 'No call of this range fits all of the filters.'
          : 'The gateway has forwarded none in this time.'}
    </Nothing>
  )
}

/** In place of a list that the dashboard did not answer with. */
export function NoList({ list }: { readonly list: CallList }) {
  const { trouble, troubleCode, again } = list
  const { address } = useNavigation()
  const unfolded = /from (\d{4}-\d\d-\d\dT[\d:.]+Z) on/.exec(trouble ?? '')?.[1]
  if (troubleCode !== 'folded_range' || unfolded === undefined) {
    return (
      <div role="alert">
        <Nothing title="The calls could not be listed" actions={<Button onClick={again}>Try again</Button>}>
          {trouble}
        </Nothing>
      </div>
    )
  }
  const fromMs = Date.parse(unfolded)
  const toMs = address.range.last === null ? Math.max(address.range.toMs, fromMs + 1) : nowMs()
  return (
    <Nothing
      title="Part of this time is kept as sums alone"
      actions={
        <>
          <Way to={{ range: { last: null, fromMs, toMs } }} words="Begin where calls are kept" />
          {isFiltered(address) && <Way to={withoutFilters(address)} words="Clear filters" />}
        </>
      }
    >
      Older calls were folded into sums of quarter hours, which do not tell what these filters ask for.
    </Nothing>
  )
}
