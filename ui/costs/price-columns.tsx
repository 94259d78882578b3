import type { ComponentChildren } from 'preact'
import type { RateTier } from '../../src/api/costs.ts'
import { AddressLink } from '../data/navigation.tsx'
import { rateWords } from '../data/price-source.ts'
import type { PriceColumnName } from '../data/sorted-columns.ts'
import { type Column, Table } from '../design/table/table.tsx'
import { counted, dollars, orDash, unknownFigure } from '../format/figures.ts'
import {
  type PriceLine,
  type RateName,
  type TieredPrice,
  briefRates,
  isFee,
  isFree,
  moreTiers,
  rate,
  ratesIn,
  tierWords,
} from './prices.ts'

/** The order without a sorted column. */
export const usualOrder = 'usual'

/** For each order, names for its two directions: largest first, then smallest first. */
export const orderWords: Readonly<Record<PriceColumnName | typeof usualOrder, readonly string[]>> = {
  [usualOrder]: ['Missing first'],
  input: ['Most expensive input', 'Cheapest input'],
  output: ['Most expensive output', 'Cheapest output'],
  cached: ['Most expensive cached', 'Cheapest cached'],
  spent: ['Most spent', 'Least spent'],
}

/** The order names of the list of all prices, which has no calls. */
export const orderWordsOfAll: typeof orderWords = {
  ...orderWords,
  [usualOrder]: ['Your own first'],
  spent: [],
}

type PriceColumn = Column<PriceLine, PriceColumnName>

export const nameColumn: PriceColumn = {
  head: 'Model',
  cell: ({ name }) => <span title={name}>{name}</span>,
  about: ({ about }) => about,
}

const input = rateColumn('input', 'Input', 'Dollars per million input tokens.')

export const priceColumns: readonly PriceColumn[] = [
  {
    ...input,
    cell: (line) => (hasFreePrice(line) ? <span class="tag good">Free</span> : input.cell(line)),
    about: ({ price }) => price && inputWords(price),
  },
  rateColumn('output', 'Output', 'Dollars per million output tokens.'),
  rateColumn('cached', 'Cached', 'Dollars per million input tokens read from the upstream’s cache.'),
  {
    head: 'Source',
    isWords: 'labelled',
    cell: ({ price, source, isCalm }) => (
      <span class={price !== null ? '' : isCalm ? 'quiet' : 'notice'}>{source}</span>
    ),
    about: ({ date }) => date,
  },
]

export const spentColumn: PriceColumn = {
  head: 'Spent',
  sort: ['spent', ({ spent }) => spent?.usd ?? null],
  cell: ({ spent }) =>
    spent === null ? null : spent.model === null ? (
      orDash(spent.usd, dollars)
    ) : (
      <AddressLink
        class="text-link"
        to={{ view: 'calls', sort: 'cost', models: [spent.model], by: 'model', price: '' }}
      >
        {orDash(spent.usd, dollars)}
      </AddressLink>
    ),
  about: ({ spent }) => spent?.words,
}

/** Returns a column of a rate. The input column shows the fee of models that bill only a fee. */
function rateColumn(name: 'input' | 'output' | 'cached', head: string, title: string): PriceColumn {
  const usdOf = ({ price }: PriceLine): number | null => {
    if (price === null) return null
    const { fee, [name]: usd } = briefRates(price)
    return (name === 'input' ? fee : undefined) ?? usd ?? null
  }
  const cell = (line: PriceLine): ComponentChildren => {
    const usd = hasFreePrice(line) ? null : usdOf(line)
    return usd === null ? <span class="quiet">{unknownFigure}</span> : rate(usd)
  }
  return { head, title, sort: [name, usdOf], cell }
}

function hasFreePrice({ price }: PriceLine): boolean {
  return price !== null && isFree(price.tiers)
}

function inputWords(price: TieredPrice): string {
  const more = moreTiers(price)
  return [
    briefRates(price).fee === undefined ? '' : 'each',
    more === 0 ? '' : `+ ${counted(more, 'tier')}`,
  ].join(' ')
}

const serviceWords: Readonly<Record<string, string>> = {
  flex: 'Flex',
  priority: 'Priority',
  batch: 'Batch',
}

/** All rates of a price by request length and service tier, and the price's source. */
export function PriceDetails({ name, price, notes }: Pick<PriceLine, 'name' | 'price' | 'notes'>) {
  return (
    <div class="price-rates">
      <RateTable caption={`Rates of ${name}`} tiers={price?.tiers ?? []} />
      {Object.entries(price?.service_tiers ?? {}).map(([service, tiers]) => (
        <div key={service}>
          <h4>{serviceWords[service] ?? service}</h4>
          <RateTable caption={`Rates of ${name}, ${service}`} tiers={tiers} />
        </div>
      ))}
      <ul class="fine">
        {notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
    </div>
  )
}

function RateTable({ caption, tiers }: { readonly caption: string; readonly tiers: readonly RateTier[] }) {
  return (
    <Table<RateName>
      caption={caption}
      columns={[
        { head: <span class="aside">Rate</span>, cell: (name) => rateWords[name] },
        ...tiers.map((tier, at) => ({
          head: tierWords(tiers, at),
          cell: (name: RateName) => {
            // A tier without a rate has the rate of the first tier.
            const usd = tier[name] ?? tiers[0]?.[name]
            return (
              <>
                {usd === undefined ? unknownFigure : rate(usd)}
                {usd !== undefined && !isFee(name) && <span class="quiet"> / 1M</span>}
              </>
            )
          },
        })),
      ]}
      rows={ratesIn(tiers)}
      keyOf={(name) => name}
    />
  )
}
