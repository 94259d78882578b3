import './no-calls.css'
import type { JSX } from 'preact'
import { AddressLink, useNavigation } from '../data/navigation.tsx'
import { type LastRange, isFiltered, withoutFilters } from '../data/page-address.ts'
import type { CallsAnswer } from '../data/dashboard-api.ts'
import { counted } from '../format/figures.ts'
import { nowMs } from '../data/dashboard-clock.ts'

export interface NoCallsProps {
  readonly answer: CallsAnswer
}

const wider: Readonly<Partial<Record<LastRange, readonly [range: LastRange, words: string]>>> = {
  '1h': ['24h', 'the last 24 hours'],
  '6h': ['24h', 'the last 24 hours'],
  '24h': ['7d', 'the last 7 days'],
  '7d': ['30d', 'the last 30 days'],
}

/** Why a list is empty, and what leads out of it. */
export function NoCalls({ answer }: NoCallsProps): JSX.Element {
  const { address } = useNavigation()
  const { summary, resolution, store, note } = answer
  if (note !== undefined) {
    const isNew = store === 'missing' || store === 'empty'
    return <Nothing title={isNew ? 'Nothing is recorded yet' : 'The database cannot be read'} about={note} />
  }
  if (answer.available_types.length === 0) {
    return (
      <Nothing
        title="No calls have been recorded yet"
        about="Each call appears here as soon as the gateway has forwarded it."
      />
    )
  }
  if (summary.calls > 0 && resolution !== undefined) {
    return (
      <Nothing
        title={`${counted(summary.calls, 'call')} of this time ${summary.calls === 1 ? 'is' : 'are'} kept as sums alone`}
        about="They were folded away when the database was made smaller. Overview still tells their figures."
      >
        <AddressLink class="button" to={{ view: 'overview', call: null, sort: 'started_at' }}>
          Show them in Overview
        </AddressLink>
      </Nothing>
    )
  }
  const [range, words] = (address.range.last === null ? undefined : wider[address.range.last]) ?? ['30d', '']
  return (
    <Nothing
      title={isFiltered(address) ? 'No calls match' : 'No calls in this range'}
      about={
        address.q === ''
          ? isFiltered(address)
            ? 'No call of this range fits all of the filters.'
            : 'The gateway has forwarded none in this time.'
          : 'No call of this range has exactly this id or error code.'
      }
    >
      {isFiltered(address) && (
        <AddressLink class="button" to={withoutFilters(address)}>
          Clear filters
        </AddressLink>
      )}
      {words !== '' && (
        <AddressLink class="button" to={{ range: { last: range } }}>
          Look at {words}
        </AddressLink>
      )}
    </Nothing>
  )
}

export interface NoListProps {
  readonly trouble: string
  readonly troubleCode: string | null
  readonly again: () => void
}

/** In place of a list that could not be had. */
export function NoList({ trouble, troubleCode, again }: NoListProps): JSX.Element {
  const { address } = useNavigation()
  const unfolded = /from (\d{4}-\d\d-\d\dT[\d:.]+Z) on/.exec(trouble)?.[1]
  if (troubleCode === 'folded_range' && unfolded !== undefined) {
    const fromMs = Date.parse(unfolded)
    const toMs = address.range.last === null ? Math.max(address.range.toMs, fromMs + 1) : nowMs()
    return (
      <Nothing
        title="Part of this time is kept as sums alone"
        about="Older calls were folded into sums of quarter hours, which do not tell what these filters ask for."
      >
        <AddressLink class="button" to={{ range: { last: null, fromMs, toMs } }}>
          Begin where calls are kept
        </AddressLink>
        {isFiltered(address) && (
          <AddressLink class="button" to={withoutFilters(address)}>
            Clear filters
          </AddressLink>
        )}
      </Nothing>
    )
  }
  return (
    <div role="alert">
      <Nothing title="The calls could not be listed" about={trouble}>
        <button type="button" class="button" onClick={again}>
          Try again
        </button>
      </Nothing>
    </div>
  )
}

interface NothingProps {
  readonly title: string
  readonly about: string
  readonly children?: JSX.Element | (JSX.Element | false)[]
}

function Nothing({ title, about, children }: NothingProps): JSX.Element {
  return (
    <div class="no-calls">
      <h2>{title}</h2>
      <p>{about}</p>
      <div class="no-calls-ways">{children}</div>
    </div>
  )
}
