import type { CallsAnswer } from '../data/dashboard-api.ts'
import { AddressLink, useNavigation } from '../data/navigation.tsx'
import { isFiltered, withoutFilters } from '../data/page-address.ts'
import { Card } from './card.tsx'
import { lazyPart } from './lazy-part.tsx'
import { Note } from './note.tsx'

/** How to make the first call, in place of what it would show. */
export const FirstCallGuide = lazyPart(async () => (await import('./first-call.tsx')).FirstCallGuide)

type EmptyAnswer = Pick<CallsAnswer, 'available_types' | 'store' | 'note'>

/** Whether there is a database, and it cannot be read. */
export function isUnreadable({ store }: EmptyAnswer): boolean {
  return store !== undefined && store !== 'missing' && store !== 'empty'
}

/** In place of figures if there is no call: tells why, and leads on. */
export function NoCallsCard({ answer }: { readonly answer: EmptyAnswer }) {
  if (isUnreadable(answer)) {
    return (
      <Note tone="bad" title="The database cannot be read.">
        {answer.note}
      </Note>
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
  const { address } = useNavigation()
  const hasFilters = isFiltered(address)
  return (
    <Card title={hasFilters ? 'No calls match' : 'No calls in this time'} class="no-calls-card">
      <p class="quiet">
        {hasFilters
          ? 'No call of this time is of the kind that the filters ask for.'
          : 'There are calls from other times.'}
      </p>
      <p class="buttons">
        {hasFilters && (
          <AddressLink class="button" to={{ ...withoutFilters(address), ignored: [] }}>
            Clear filters
          </AddressLink>
        )}
        {address.range.last !== '30d' && (
          <AddressLink class="button" to={{ range: { last: '30d' } }}>
            Last 30 days
          </AddressLink>
        )}
      </p>
    </Card>
  )
}
