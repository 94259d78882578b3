import type { CostMatches } from '../../src/api/costs.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import { AddressLink, useNavigation, useTimes } from '../data/navigation.tsx'
import { defaultAddress } from '../data/page-address.ts'
import { matchesPath } from '../data/free-calls.ts'
import { sourceDate, sourceWords } from '../data/price-source.ts'
import { useQuery } from '../data/use-query.ts'
import { nowMs } from '../data/dashboard-clock.ts'

export interface CallPriceProps {
  /** The call; only some of its fields before the answer. */
  readonly call: Partial<CallJson>
  readonly costUsd: number | null
}

/** The source of a cost, or the reason that there is none, with a link to the price. */
export function CallPrice({ call, costUsd }: CallPriceProps) {
  const { price_source: source, price_key: key, usage_source: usage, model } = call
  if (usage === undefined) return <small />
  if (costUsd === null && usage === 'none') return <small>no usage reported</small>
  if (costUsd === null) {
    return (
      <small>
        {typeof model === 'string' ? <PriceLink call={call} name={model} words="no price" /> : 'no price'}
      </small>
    )
  }
  if (source === 'upstream') return <small>reported by the upstream</small>
  if (key === null || key === undefined) return <small>{sourceWords(source ?? '')}</small>
  return (
    <>
      <small>
        <PriceLink call={call} name={key} words={`price of ${key}`} />
      </small>
      <PriceAge call={call} />
    </>
  )
}

interface PriceLinkProps {
  readonly call: Partial<CallJson>
  readonly name: string
  readonly words: string
}

/** A link to the prices of the call's model at the call's time. */
function PriceLink({ call, name, words }: PriceLinkProps) {
  const ms = Date.parse(call.started_at ?? '')
  const { utc } = useNavigation().address
  const range = { last: null, fromMs: ms - hourMs, toMs: ms + hourMs } as const
  return (
    <AddressLink class="text-link" to={{ ...defaultAddress, utc, view: 'costs', price: name, range }}>
      {words}
    </AddressLink>
  )
}

const hourMs = 3_600_000

/** The source and date of the price; no date if the price has changed since the call. */
function PriceAge({ call }: Pick<CallPriceProps, 'call'>) {
  const times = useTimes()
  const { started_at: startedAt = '', price_source: source, price_key: key } = call
  const startedMs = Date.parse(startedAt)
  const { answer } = useQuery<CostMatches>(matchesPath({ fromMs: startedMs, toMs: startedMs + 1 }))
  const price = answer?.matches
    .flatMap(({ price }) => ('key' in price ? [price] : []))
    .find((price) => price.key === key && price.source === source)
  const isMet = price?.effective_from === null || Date.parse(price?.effective_from ?? '') <= startedMs
  const date = sourceDate(source ?? '', isMet ? price?.updated_at : null, times, nowMs())
  return (
    <small>
      {sourceWords(source ?? '')}
      {date !== '' && `, ${date}`}
    </small>
  )
}
