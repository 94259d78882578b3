import type { CallsAnswer } from '../data/dashboard-api.ts'
import { AddressLink, useNavigation } from '../data/navigation.tsx'
import { isFiltered, withoutFilters } from '../data/page-address.ts'
import { Card } from './card.tsx'
import { lazyPart } from './lazy-part.tsx'
import { Note } from './note.tsx'

const FirstCallCard = lazyPart(async () => (await import('./first-call.tsx')).FirstCallCard)

type EmptyAnswer = Pick<CallsAnswer, 'available_types' | 'store' | 'note'>

/** In place of figures if there is no call: tells why, and leads on. */
export function NoCallsCard({ answer }: { readonly answer: EmptyAnswer }) {
  const { available_types: types, store, note } = answer
  if (store !== undefined && store !== 'missing' && store !== 'empty') {
    return (
      <Note tone="bad" title="The database cannot be read.">
        {note}
      </Note>
    )
  }
  // Of no type: there never was a call.
  return types.length === 0 ? <FirstCallCard /> : <NothingFoundCard />
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
