import './price-rates.css'
import type { JSX } from 'preact'
import type { PricePeriod, RateTier } from '../../src/api/costs.ts'
import { rate, rateWords, ratesIn, isFee, tierWords } from './price-words.ts'

const serviceWords: Readonly<Record<string, string>> = {
  flex: 'Flex',
  priority: 'Priority',
  batch: 'Batch',
}

export interface PriceRatesProps {
  readonly name: string
  readonly period: Pick<PricePeriod, 'tiers' | 'service_tiers'>
}

/** All rates of a price: by the length of a request, and by the service tier that it was made with. */
export function PriceRates({
  name,
  period: { tiers, service_tiers: services = {} },
}: PriceRatesProps): JSX.Element {
  return (
    <div class="price-rates">
      <RateTable caption={`Rates of ${name}`} tiers={tiers} />
      {Object.entries(services).map(([service, own]) => (
        <div key={service}>
          <h4>{serviceWords[service] ?? service}</h4>
          <RateTable caption={`Rates of ${name}, ${service}`} tiers={own} />
        </div>
      ))}
    </div>
  )
}

function RateTable({
  caption,
  tiers,
}: {
  readonly caption: string
  readonly tiers: readonly RateTier[]
}): JSX.Element {
  return (
    <table>
      <caption class="aside">{caption}</caption>
      <thead>
        <tr>
          <td />
          {tiers.map((tier, at) => (
            <th key={tier.above_input_tokens} scope="col">
              {tierWords(tiers, at)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {ratesIn(tiers).map((one) => (
          <tr key={one}>
            <th scope="row">{rateWords[one]}</th>
            {tiers.map((tier) => {
              // What a longer request has no rate of its own for is as for a shorter one.
              const usd = tier[one] ?? tiers[0]?.[one]
              return (
                <td key={tier.above_input_tokens}>
                  {usd === undefined ? '–' : rate(usd)}
                  {usd !== undefined && !isFee(one) && <span class="quiet"> / 1 M</span>}
                </td>
              )
            })}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
