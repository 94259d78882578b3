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

/** How to make the first call, in place of what it would show. */
export const FirstCallGuide = lazyPart(async () => (await import('./first-call.tsx')).FirstCallGuide)

type EmptyAnswer = Pick<CallsAnswer, 'available_types' | 'store' | 'note'>

/** True if there is a database, and it cannot be read. */
export function isUnreadable({ store }: EmptyAnswer): boolean {
  return store !== undefined && store !== 'missing' && store !== 'empty'
}

/** In place of figures if there is no call: tells why, and leads on. */
export function NoCallsCard({ answer }: { readonly answer: EmptyAnswer }) {
  if (isUnreadable(answer)) {
    return (
      <Banner tone="bad" title="The database cannot be read.">
        {answer.note}
      </Banner>
    )
  }
  // Of no type: there never was a call.
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
      <p class="buttons">{ways}</p>
    </Card>
  )
}

/** Why no call of the time and filters is there, and what leads on. */
export function useNothingFound() {
  const { address } = useNavigation()
  const hasFilters = isFiltered(address)
  return {
    title: hasFilters ? 'No calls match' : 'No calls in this time',
    why:
      address.q !== ''
        ? 'No call of this time has exactly this id, error code or trace.'
        : hasFilters
          ? 'No call of this time fits all of the filters.'
          : 'There are calls from other times.',
    ways: (
      <>
        {hasFilters && <ActionLink to={{ ...withoutFilters(address), ignored: [] }} words="Clear filters" />}
        {address.range.last !== '30d' && <ActionLink to={{ range: { last: '30d' } }} words="Last 30 days" />}
      </>
    ),
  }
}

/** Shown when a query fails: the reason, and what to do. `what` is the subject, such as `The calls`. */
export function Refusal({ what, asked }: { readonly what: string; readonly asked: Refused }) {
  const { error, failure, again } = asked
  const from = failure?.code === 'folded_range' ? failure.data['from'] : undefined
  if (from !== undefined) return <FoldedTime untilMs={Date.parse(from)} />
  return (
    <div role="alert">
      <EmptyState title={`${what} could not be read`} actions={<Button onClick={again}>Try again</Button>}>
        {error}
      </EmptyState>
    </div>
  )
}

type Refused = Pick<QueryState<unknown>, 'error' | 'failure' | 'again'>

/** In place of what the sums of calls that were folded until then do not tell. */
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
            words="Show the range with single calls"
          />
          {isFiltered(address) && <ActionLink to={withoutFilters(address)} words="Clear filters" />}
        </>
      }
    >
      {`Calls before ${times.full(untilMs)} were compressed into hourly totals, which do not hold this.`}
    </EmptyState>
  )
}

/** A link out of an empty list. */
export function ActionLink({ to, words }: { readonly to: Partial<PageAddress>; readonly words: string }) {
  return (
    <AddressLink class="button" to={to}>
      {words}
    </AddressLink>
  )
}
