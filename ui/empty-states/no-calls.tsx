import type { CallsAnswer } from '../data/dashboard-api.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { AddressLink, useNavigation, useTimes } from '../data/navigation.tsx'
import { type PageAddress, isFiltered, withoutFilters } from '../data/page-address.ts'
import type { QueryState } from '../data/use-query.ts'
import { Button } from '../design/button.tsx'
import { Card } from '../design/card.tsx'
import { lazyPart } from '../design/lazy-part.tsx'
import { EmptyState } from '../design/empty-state.tsx'
import { Banner } from '../design/banner.tsx'

/** Instructions for the first call, in place of a view's content. */
export const FirstCallGuide = lazyPart(async () => (await import('./first-call.tsx')).FirstCallGuide)

type EmptyAnswer = Pick<CallsAnswer, 'available_types' | 'store' | 'note'>

/** True if there is a database that cannot be read. */
export function isUnreadable({ store }: EmptyAnswer): boolean {
  return store !== undefined && store !== 'missing' && store !== 'empty'
}

/** The text in place of figures if there are no calls: the reason, and the next step. */
export function NoCallsCard({ answer }: { readonly answer: EmptyAnswer }) {
  if (isUnreadable(answer)) {
    return (
      <Banner tone="bad" title="Could not read the database.">
        {answer.note}
      </Banner>
    )
  }
  // Without any known type, no call was ever recorded.
  if (answer.available_types.length > 0) return <NothingFoundCard />
  return (
    <Card title="No calls yet" class="no-calls-card">
      <FirstCallGuide />
    </Card>
  )
}

function NothingFoundCard() {
  const { title, why, ways } = useNothingFound()
  return (
    <Card title={title} class="no-calls-card">
      <p class="quiet">{why}</p>
      <p class="buttons row wraps">{ways}</p>
    </Card>
  )
}

/** Returns the reason that no calls match the range and filters, with links to more calls. */
export function useNothingFound() {
  const { address } = useNavigation()
  const hasFilters = isFiltered(address)
  return {
    title: hasFilters ? 'No calls match' : 'No calls in this range',
    why:
      address.q !== ''
        ? 'No call in this range has exactly this ID, error code or trace.'
        : hasFilters
          ? 'No call in this range matches all filters.'
          : 'Try another time range.',
    ways: (
      <>
        {hasFilters && <ActionLink to={{ ...withoutFilters(address), ignored: [] }} words="Clear filters" />}
        {address.range.last !== '30d' && <ActionLink to={{ range: { last: '30d' } }} words="Last 30 days" />}
      </>
    ),
  }
}

/** The text in place of a failed request's answer. `what` is the subject, such as `the calls`. */
export function Refusal({ what, query }: { readonly what: string; readonly query: Refused }) {
  const { error, failure, again } = query
  const from = failure?.code === 'folded_range' ? failure.data['from'] : undefined
  if (from !== undefined) return <FoldedTime untilMs={Date.parse(from)} />
  return (
    <div role="alert">
      <EmptyState title={`Could not load ${what}`} actions={<Button onClick={again}>Try again</Button>}>
        {error}
      </EmptyState>
    </div>
  )
}

type Refused = Pick<QueryState<unknown>, 'error' | 'failure' | 'again'>

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
