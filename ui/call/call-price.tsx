import type { JSX } from 'preact'
import type { CostMatches } from '../../src/api/costs.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import { AddressLink, useNavigation } from '../data/navigation.tsx'
import { plainAddress } from '../data/page-address.ts'
import { sourceDate, sourceWords } from '../data/price-source.ts'
import { useAnswer } from '../data/use-answer.ts'
import type { Times } from '../format/times.ts'
import { nowMs } from '../data/dashboard-clock.ts'

export interface CallPriceProps {
  /** Empty while only a list has told of it. */
  readonly call: Partial<CallJson>
  readonly costUsd: number | null
  readonly times: Times
}

/** Where the figure of a cost comes from, or why there is none; leads to the price. */
export function CallPrice({ call, costUsd, times }: CallPriceProps): JSX.Element {
  const { price_source: source, price_key: key, usage_source: usage, model } = call
  if (usage === undefined) return <small />
  if (costUsd === null) {
    if (usage === 'none') return <small>no usage told</small>
    return (
      <small>
        {model === null || model === undefined ? (
          'no price'
        ) : (
          <PriceLink call={call} name={model} words="no price" />
        )}
      </small>
    )
  }
  if (source === 'upstream') return <small>told by the upstream</small>
  if (key === null || key === undefined) return <small>{sourceWords(source ?? '')}</small>
  return (
    <>
      <small>
        <PriceLink call={call} name={key} words={`price of ${key}`} />
      </small>
      <PriceAge call={call} times={times} />
    </>
  )
}

interface PriceLinkProps {
  readonly call: Partial<CallJson>
  readonly name: string
  readonly words: string
}

/** To the prices that the calls of that day met: those of its model. */
function PriceLink({ call, name, words }: PriceLinkProps): JSX.Element {
  const startedMs = Date.parse(call.started_at ?? '')
  const { address } = useNavigation()
  return (
    <AddressLink
      class="text-link"
      to={{
        ...plainAddress,
        utc: address.utc,
        view: 'costs',
        price: name,
        range: { last: null, fromMs: startedMs - hourMs, toMs: startedMs + hourMs },
      }}
    >
      {words}
    </AddressLink>
  )
}

const hourMs = 3_600_000

/** Who says so, and when it was got; the date only where the price is still the one that was met. */
function PriceAge({ call, times }: Pick<CallPriceProps, 'call' | 'times'>): JSX.Element {
  const { started_at: startedAt = '', price_source: source, price_key: key } = call
  const { answer } = useAnswer<CostMatches>(startedAt, () => pathOf(startedAt), { everyMs: null })
  const match = answer?.matches.find(
    ({ price }) => 'key' in price && price.key === key && price.source === source,
  )
  const price = match?.price
  const since =
    price !== undefined && 'key' in price && holdsAt(price.effective_from, startedAt)
      ? price.updated_at
      : null
  const date = sourceDate(source ?? '', since, times, nowMs())
  return <small>{[sourceWords(source ?? ''), ...(date === '' ? [] : [date])].join(', ')}</small>
}

function holdsAt(from: string | null, at: string): boolean {
  return from === null || Date.parse(from) <= Date.parse(at)
}

function pathOf(startedAt: string): string {
  const ms = Date.parse(startedAt)
  return `/api/costs/matches?${new URLSearchParams({ from: new Date(ms).toISOString(), to: new Date(ms + 1).toISOString() })}`
}
