import type { JSX } from 'preact'
import { AddressLink, useNavigation } from '../data/navigation.tsx'
import { isFiltered, withoutFilters } from '../data/page-address.ts'
import { Card } from './card.tsx'

/** No call in this range with these filters, though there are calls. */
export function NothingCard(): JSX.Element {
  const { address } = useNavigation()
  const isOfFilters = isFiltered(address)
  return (
    <Card title={isOfFilters ? 'No calls match' : 'No calls in this time'} class="first-call">
      <p class="quiet">
        {isOfFilters
          ? 'No call of this time is of the kind that the filters ask for.'
          : 'There are calls from other times.'}
      </p>
      <p class="nothing-ways">
        {isOfFilters && (
          <AddressLink class="button" to={{ ...withoutFilters(address), ignored: [] }}>
            Clear filters
          </AddressLink>
        )}
        {(address.range.last !== '30d' || !isOfFilters) && (
          <AddressLink class="button" to={{ range: { last: '30d' } }}>
            Last 30 days
          </AddressLink>
        )}
      </p>
    </Card>
  )
}
