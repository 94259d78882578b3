import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import type { RateTier } from '../../src/api/costs.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { AddressLink, useTimes } from '../data/navigation.tsx'
import { Button } from '../design/button.tsx'
import { Editor } from '../design/editor.tsx'
import { Icon } from '../design/icon.tsx'
import { Table } from '../design/table.tsx'
import { count, dollars, known, unknownFigure } from '../format/figures.ts'
import { priceForm } from './price-changes.ts'
import {
  briefRates,
  isFee,
  isFree,
  moreTiers,
  rate,
  rateWords,
  ratesIn,
  tierWords,
  type PriceLine,
  type ShownPrice,
} from './prices.ts'

/** As many as one looks through, and as many more with each press; others are found by their names. */
const [rowsAtFirst, rowsMore] = [50, 200]

export interface PriceTableProps {
  readonly caption: string
  /** Each makes a row. */
  readonly lines: readonly (() => PriceLine)[]
  /** Spend has a column. */
  readonly hasSpent: boolean
  readonly isSyncing: boolean
  readonly onSync: () => void
  /** A price was set. */
  readonly onSaved: () => void
  readonly onRemove: (name: string) => void
}

/** Prices side by side, for a million tokens each. */
export function PriceTable(props: PriceTableProps) {
  const { caption, lines, hasSpent, ...actions } = props
  const [most, setMost] = useState(rowsAtFirst)
  const columns = [
    hasSpent ? 'Model' : 'Name',
    { words: 'Input', class: 'price-rate', meaning: 'Dollars for a million input tokens.' },
    { words: 'Output', class: 'price-rate', meaning: 'Dollars for a million output tokens.' },
    {
      words: 'Cached',
      class: 'price-rate',
      meaning: 'Dollars for a million input tokens that the upstream read from its cache.',
    },
    { words: 'Source', class: 'price-source is-words' },
    ...(hasSpent ? [{ words: 'Spent', class: 'price-spent' }] : []),
    { words: <span class="aside">Actions</span>, class: 'price-actions' },
  ]
  return (
    <>
      <Table caption={`${caption}, in dollars for a million tokens`} columns={columns} class="price-table">
        <tbody>
          {lines.slice(0, most).map((makeLine) => {
            const line = makeLine()
            return <Row key={line.key} line={line} columns={columns.length} {...actions} />
          })}
        </tbody>
      </Table>
      {lines.length > most && (
        <Button kind="bare" small onClick={() => setMost(most + rowsMore)}>
          {count(lines.length - most)} more
        </Button>
      )}
    </>
  )
}

interface RowProps extends Pick<PriceTableProps, 'isSyncing' | 'onSync' | 'onSaved' | 'onRemove'> {
  readonly line: PriceLine
  readonly columns: number
}

/** A price, or why there is none; its tiers are folded away, and the form that sets it opens below. */
function Row({ line, columns, isSyncing, onSync, onSaved, onRemove }: RowProps) {
  const times = useTimes()
  const [isOpen, setOpen] = useState(false)
  const [isEdited, setEdited] = useState(false)
  const id = useId()
  const { name, about, price, why, isCalm, spent, priced, ownName, canSync } = line
  const label = (
    <span class="price-name cut" title={name}>
      {name}
    </span>
  )
  return (
    <>
      <tr class={price === null ? `is-unpriced ${isCalm ? 'is-calm' : ''}` : 'price-row'}>
        <th scope="row">
          {price === null ? (
            label
          ) : (
            <button
              type="button"
              class="opener price-open"
              aria-expanded={isOpen}
              aria-controls={isOpen ? id : undefined}
              onClick={() => setOpen(!isOpen)}
            >
              <Icon name="right" size={14} />
              {label}
            </button>
          )}
          <small>{about}</small>
          <small class={`price-brief ${price === null ? 'price-why' : ''}`}>
            {price === null ? why : `${briefWords(price)} · ${price.source}`}
          </small>
        </th>
        {price === null ? (
          <td class="price-why is-words" colSpan={4}>
            {why}
          </td>
        ) : (
          <>
            <RateCells price={price} />
            <td class="price-source is-words">
              {price.source}
              <small>{price.date}</small>
            </td>
          </>
        )}
        {spent !== null && (
          <td class="price-spent">
            {spent.model === null ? (
              known(spent.usd, dollars)
            ) : (
              <AddressLink
                class="spent-link"
                to={{ view: 'calls', sort: 'cost', models: [spent.model], by: 'model', price: '' }}
              >
                {known(spent.usd, dollars)}
              </AddressLink>
            )}
            <small>{spent.words}</small>
          </td>
        )}
        <td class="price-actions">
          {ownName !== null && (
            <Button kind="bare" small onClick={() => onRemove(ownName)}>
              Remove<span class="aside"> your price of {name}</span>
            </Button>
          )}
          {canSync && (
            <Button kind="bare" small isOff={isSyncing} onClick={onSync}>
              Sync<span class="aside"> prices</span>
            </Button>
          )}
          {priced !== null && (
            <Button
              small
              aria-expanded={isEdited}
              {...(price !== null && { kind: 'bare' })}
              onClick={() => setEdited(!isEdited)}
            >
              {price === null ? 'Set price' : 'Change'}
              <span class="aside">{price === null ? ` of ${name}` : ` the price of ${name}`}</span>
            </Button>
          )}
        </td>
      </tr>
      {isEdited && priced !== null && (
        <tr class="price-details">
          <td colSpan={columns}>
            <Editor
              form={priceForm(priced, nowMs(), (day) => times.dayStartMs(day))}
              onLeave={() => setEdited(false)}
              onSaved={() => {
                setEdited(false)
                onSaved()
              }}
            />
          </td>
        </tr>
      )}
      {isOpen && price !== null && (
        <tr class="price-details" id={id}>
          <td colSpan={columns}>
            <AllRates name={name} price={price} />
            <ul class="fine">
              {price.notes.map((note) => (
                <li key={note}>{note}</li>
              ))}
            </ul>
          </td>
        </tr>
      )}
    </>
  )
}

function RateCells({ price: { period } }: { readonly price: ShownPrice }) {
  if (isFree(period.tiers)) {
    return (
      <td class="price-rate" colSpan={3}>
        <span class="tag good">Free</span>
      </td>
    )
  }
  const { fee, input, output, cached } = briefRates(period)
  const more = moreTiers(period)
  return (
    <>
      <td class="price-rate">
        <Rate usd={fee ?? input} />
        {fee !== undefined && <small>each</small>}
        {more > 0 && (
          <small title="By the length of the request, or its service tier">
            + {more} {more === 1 ? 'tier' : 'tiers'}
          </small>
        )}
      </td>
      <td class="price-rate">
        <Rate usd={output} />
      </td>
      <td class="price-rate">
        <Rate usd={cached} />
      </td>
    </>
  )
}

function Rate({ usd }: { readonly usd: number | undefined }): ComponentChildren {
  return usd === undefined ? <span class="quiet">{unknownFigure}</span> : rate(usd)
}

/** For narrow windows: `$0.15 in, $0.60 out, tiers`. */
function briefWords({ period }: ShownPrice): string {
  if (isFree(period.tiers)) return 'Free'
  const { fee, input, output } = briefRates(period)
  return [
    fee !== undefined && `${rate(fee)} each`,
    input !== undefined && `${rate(input)} in`,
    output !== undefined && `${rate(output)} out`,
    moreTiers(period) > 0 && 'tiers',
  ]
    .filter((words) => words !== false)
    .join(', ')
}

const serviceWords: Readonly<Record<string, string>> = {
  flex: 'Flex',
  priority: 'Priority',
  batch: 'Batch',
}

/** All rates of a price: by the length of a request, and by the service tier that was asked for. */
function AllRates({ name, price: { period } }: { readonly name: string; readonly price: ShownPrice }) {
  return (
    <div class="price-rates">
      <RateTable caption={`Rates of ${name}`} tiers={period.tiers} />
      {Object.entries(period.service_tiers ?? {}).map(([service, tiers]) => (
        <div key={service}>
          <h4>{serviceWords[service] ?? service}</h4>
          <RateTable caption={`Rates of ${name}, ${service}`} tiers={tiers} />
        </div>
      ))}
    </div>
  )
}

function RateTable({ caption, tiers }: { readonly caption: string; readonly tiers: readonly RateTier[] }) {
  const columns = [<span class="aside">Rate</span>, ...tiers.map((_, at) => tierWords(tiers, at))]
  return (
    <Table caption={caption} columns={columns.map((words) => ({ words }))}>
      <tbody>
        {ratesIn(tiers).map((name) => (
          <tr key={name}>
            <th scope="row">{rateWords[name]}</th>
            {tiers.map((tier) => {
              // A longer request costs as a shorter one unless it has a rate of its own.
              const usd = tier[name] ?? tiers[0]?.[name]
              return (
                <td key={tier.above_input_tokens}>
                  {usd === undefined ? unknownFigure : rate(usd)}
                  {usd !== undefined && !isFee(name) && <span class="quiet"> / 1 M</span>}
                </td>
              )
            })}
          </tr>
        ))}
      </tbody>
    </Table>
  )
}
