import './spend-table.css'
import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { PageAddress, SpendBy } from '../data/page-address.ts'
import { AddressLink } from '../data/navigation.tsx'
import { Card } from '../design/card.tsx'
import { Meter } from '../design/meter.tsx'
import {
  count,
  counted,
  dollars,
  exactDollars,
  known,
  roughPercent,
  shortCount,
  unknownFigure,
} from '../format/figures.ts'
import { changeOf } from '../design/change.ts'
import { namelessWords } from './spend-chart.tsx'
import { type SpendFigures, type SpendRow, costPerCall, costPerMillion, spendRows } from './spend-figures.ts'
import type { SpendParts } from './use-spend.ts'

/** More are there when they are asked for. */
const rowsAtFirst = 10

export interface SpendTableProps {
  readonly parts: SpendParts
}

/** What each model, or client, cost; each row leads to its calls. */
export function SpendTable({ parts: { by, now, before } }: SpendTableProps): JSX.Element {
  const [isWhole, setWhole] = useState(false)
  const rows = useMemo(() => spendRows(now, before), [now, before])
  const shown = isWhole ? rows : rows.slice(0, rowsAtFirst)
  const noun = by === 'model' ? 'Model' : 'Client'
  return (
    <Card
      title={`Spend by ${by}`}
      about={before === null ? undefined : 'change against the time of the same length before'}
      class="spend-table"
    >
      <table>
        <caption class="aside">Spend by {by}</caption>
        <thead>
          <tr>
            <th scope="col">{noun}</th>
            <th scope="col" class="spend-cost">
              Cost
            </th>
            <th scope="col" class="is-share">
              Share
            </th>
            <th scope="col" class="is-more">
              Change
            </th>
            <th scope="col" class="is-some">
              Calls
            </th>
            <th scope="col" class="is-some">
              Tokens
            </th>
            <th scope="col" class="is-more">
              Per call
            </th>
            <th scope="col" class="is-more is-million">
              Per 1 M tokens
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <Row key={row.name ?? '\0'} row={row} by={by} />
          ))}
        </tbody>
        {rows.length > 1 && (
          <tfoot>
            <tr>
              <th scope="row">All</th>
              <Cells now={now.summary} before={before?.summary ?? null} share={null} />
            </tr>
          </tfoot>
        )}
      </table>
      {rows.length > rowsAtFirst && (
        <button type="button" class="button bare small spend-table-more" onClick={() => setWhole(!isWhole)}>
          {isWhole ? `Only the ${rowsAtFirst} dearest` : `Show all ${count(rows.length)}`}
        </button>
      )}
    </Card>
  )
}

function Row({
  row: { name, now, before, share },
  by,
}: {
  readonly row: SpendRow
  readonly by: SpendBy
}): JSX.Element {
  const to: Partial<PageAddress> = { view: 'calls', sort: 'cost' }
  return (
    <tr>
      <th scope="row">
        {name === null ? (
          <span class="spend-name quiet">{namelessWords[by]}</span>
        ) : (
          <AddressLink
            class="spend-name text-link"
            title={name}
            to={by === 'model' ? { ...to, models: [name] } : { ...to, clients: [name] }}
          >
            {name}
          </AddressLink>
        )}
        <small class="spend-brief">
          {counted(now.calls, 'call')}, {shortCount(now.total_tokens)} tokens
        </small>
      </th>
      <Cells now={now} before={before} share={share} />
    </tr>
  )
}

interface CellsProps {
  readonly now: SpendFigures
  readonly before: SpendFigures | null
  readonly share: number | null
}

function Cells({ now, before, share }: CellsProps): JSX.Element {
  const perMillion = costPerMillion(now)
  const unpriced = now.unpriced_calls
  return (
    <>
      <td class="spend-cost">
        {known(now.cost_usd, dollars)}
        {unpriced > 0 && (
          <small>{now.cost_usd === null ? 'no price' : `+ ${shortCount(unpriced)} unpriced`}</small>
        )}
      </td>
      <td class="is-share">
        {share !== null && (
          <span class="spend-share">
            <Meter share={share} />
            <span>{roughPercent(share)}</span>
          </span>
        )}
      </td>
      <td class="is-more">
        <ChangeOfCost now={now} before={before} />
      </td>
      <td class="is-some">{shortCount(now.calls)}</td>
      <td class="is-some">{shortCount(now.total_tokens)}</td>
      <td class="is-more">{known(costPerCall(now), exactDollars)}</td>
      <td
        class="is-more"
        title={perMillion?.isLeast === true ? 'Some of these calls have no price.' : undefined}
      >
        {perMillion === null
          ? unknownFigure
          : `${perMillion.isLeast ? '≥\u202f' : ''}${dollars(perMillion.usd)}`}
      </td>
    </>
  )
}

function ChangeOfCost({ now, before }: Pick<CellsProps, 'now' | 'before'>): JSX.Element {
  const change = changeOf({
    now: now.cost_usd,
    before: before?.cost_usd ?? null,
    nNow: now.calls,
    nBefore: before?.calls ?? 0,
    better: null,
    show: dollars,
  })
  if (change === null) return <span class="quiet">{unknownFigure}</span>
  return (
    <span title={`was ${change.was}`}>
      {change.words === '' ? `was ${change.was}` : change.words}
      <span class="aside"> was {change.was}</span>
    </span>
  )
}
