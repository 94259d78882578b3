import type { CallsAnswer } from '../data/dashboard-api.ts'
import { baseUrlOf, firstCall } from '../data/gateway-now.ts'
import { useLive } from '../data/live.ts'
import { AddressLink, useNavigation } from '../data/navigation.tsx'
import { isFiltered, withoutFilters } from '../data/page-address.ts'
import { Card } from './card.tsx'
import { CopyButton } from './copy-button.tsx'
import { Note } from './note.tsx'

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

/** A call that can be pasted into a terminal. */
export function FirstCallCommand() {
  const command = firstCall(useBaseUrl())
  return (
    <div class="first-call-command">
      <pre>{command}</pre>
      <CopyButton text={command} what="the command" />
    </div>
  )
}

function useBaseUrl(): string {
  return useLive(({ status }) => baseUrlOf(status, location.hostname))
}

function FirstCallCard() {
  const baseUrl = useBaseUrl()
  const isStopped = useLive(({ status }) => status?.running === false)
  return (
    <Card title="No calls yet" class="no-calls-card">
      <p>Send one through the gateway, and this page fills with what it did.</p>
      <FirstCallCommand />
      <p>
        For a client library, the base URL is <code>{baseUrl}</code>{' '}
        <CopyButton text={baseUrl} what="the base URL" />
        <br />
        <span class="quiet">
          The rest of the program stays as it is: model names and keys are passed on unchanged.
        </span>
      </p>
      {isStopped && <Note tone="warn">The gateway is stopped: start it first, at the top of the page.</Note>}
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
        {(address.range.last !== '30d' || !hasFilters) && (
          <AddressLink class="button" to={{ range: { last: '30d' } }}>
            Last 30 days
          </AddressLink>
        )}
      </p>
    </Card>
  )
}
