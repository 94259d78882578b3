import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { orderOf } from '../data/changed-address.ts'
import { AddressLink, useNavigation } from '../data/navigation.tsx'
import { type CompareBy, byWords, filterOf, namelessOf } from '../data/page-address.ts'
import { type SpendColumnName, spendColumnNames } from '../data/sorted-columns.ts'
import { Button } from '../design/button.tsx'
import { Card } from '../design/card.tsx'
import { Meter } from '../design/meter.tsx'
import { sortingBy } from '../design/table/sort-heading.tsx'
import { sortedRows } from '../design/table/sorted-rows.ts'
import { Table } from '../design/table/table.tsx'
import { costPerThousand } from '../format/cost-per-thousand.ts'
import { count, counted, dollars, orDash, percent, savedWords, unknownFigure } from '../format/figures.ts'
import {
  type SpendRow,
  changeOfCost,
  costPerMillion,
  costRatio,
  spendRows,
  tokensOf,
} from './spend-figures.ts'
import type { SpendParts } from './use-costs.ts'

/** The number of rows before "Show all". */
const rowsAtFirst = 10

/** A column of the table. */
interface SpendColumn {
  readonly words: string
  readonly class?: string
  /** Returns the value to sort by; null if unknown. */
  readonly value: (row: SpendRow) => number | null
  readonly cell: (row: SpendRow) => ComponentChildren
}

const columns: Readonly<Record<SpendColumnName, SpendColumn>> = {
  cost: {
    words: 'Cost',
    class: 'spend-cost',
    value: ({ now }) => now.cost_usd,
    cell: ({ now: { cost_usd: usd, unpriced_calls: unpriced } }) => (
      <>
        {orDash(usd, dollars)}
        {unpriced > 0 && <small>{usd === null ? 'no price' : `+ ${count(unpriced)} unpriced`}</small>}
      </>
    ),
  },
  share: {
    words: 'Share',
    class: 'is-share',
    value: ({ share }) => share,
    cell: ({ share }) =>
      share !== null && (
        <span class="spend-share">
          <Meter share={share} />
          <span>{percent(share)}</span>
        </span>
      ),
  },
  change: {
    words: 'Change',
    class: 'is-more',
    value: costRatio,
    cell: (row) => <Change {...row} />,
  },
  calls: {
    words: 'Calls',
    class: 'is-some',
    value: ({ now }) => now.calls,
    cell: ({ now }) => count(now.calls),
  },
  tokens: {
    words: 'Tokens',
    class: 'is-some',
    value: ({ now }) => tokensOf(now),
    cell: ({ now }) => orDash(tokensOf(now), count),
  },
  cached: {
    words: 'Cached input',
    class: 'is-more',
    value: ({ now }) => now.cached_share,
    cell: ({ now }) => (
      <>
        {orDash(now.cached_share, percent)}
        <small>{savedWords(now.cache_saved_usd)}</small>
      </>
    ),
  },
  per_call: {
    words: 'Per 1,000 calls',
    class: 'is-more',
    value: ({ now }) => costPerThousand(now),
    cell: ({ now }) => orDash(costPerThousand(now), dollars),
  },
  per_million: {
    words: 'Per 1M tokens',
    class: 'is-more is-million',
    value: ({ now }) => costPerMillion(now)?.usd ?? null,
    cell: ({ now }) => <PerMillion now={now} />,
  },
}

/** The cost of each group. Each row is a link to its calls. */
export function SpendTable({ parts: { by, now, before } }: { readonly parts: SpendParts }) {
  const { address, go } = useNavigation()
  const { rising } = address
  const order = orderOf('costs', address)
  const [showsAll, setShowsAll] = useState(false)
  const rows = useMemo(
    () => sortedRows(spendRows(now, before), columns[order].value, rising),
    [now, before, order, rising],
  )
  const title = `Spend by ${byWords(by).toLowerCase()}`
  const shown = showsAll ? rows : rows.slice(0, rowsAtFirst)
  return (
    <Card title={title} about={before === null ? undefined : 'change vs. previous period'}>
      <Table
        caption={title}
        columns={[
          byWords(by),
          ...spendColumnNames.map((name) => ({
            words: columns[name].words,
            class: columns[name].class,
            sorting: sortingBy<SpendColumnName>(name, order, rising, (order, rising) =>
              go({ order, rising }),
            ),
          })),
        ]}
        class="spend-table has-links"
      >
        <tbody>
          {shown.map((row) => (
            <tr key={row.name ?? '\0'}>
              <th scope="row">
                <Name by={by} name={row.name} />
                <small class="spend-brief">
                  {counted(row.now.calls, 'call')}, {orDash(tokensOf(row.now), count)} tokens
                </small>
              </th>
              <Cells {...row} />
            </tr>
          ))}
        </tbody>
        {rows.length > 1 && (
          <tfoot>
            <tr>
              <th scope="row">All</th>
              <Cells name={null} now={now.summary} before={before?.summary ?? null} share={null} />
            </tr>
          </tfoot>
        )}
      </Table>
      {rows.length > rowsAtFirst && (
        <Button kind="bare" small class="spend-table-more" onClick={() => setShowsAll(!showsAll)}>
          {showsAll ? `Show first ${rowsAtFirst}` : `Show all ${count(rows.length)}`}
        </Button>
      )}
    </Card>
  )
}

function Name({ by, name }: { readonly by: CompareBy; readonly name: string | null }) {
  const { tags } = useNavigation().address
  if (name === null) return <span class="spend-name cut quiet">{namelessOf(by)}</span>
  return (
    <AddressLink
      class="spend-name cut"
      title={name}
      to={{ view: 'calls', sort: 'cost', ...filterOf(by, name, tags) }}
    >
      {name}
    </AddressLink>
  )
}

function Cells(row: SpendRow) {
  return (
    <>
      {spendColumnNames.map((name) => (
        <td key={name} class={columns[name].class}>
          {columns[name].cell(row)}
        </td>
      ))}
    </>
  )
}

function PerMillion({ now }: Pick<SpendRow, 'now'>) {
  const perMillion = costPerMillion(now)
  if (perMillion === null) return unknownFigure
  const { usd, isLeast } = perMillion
  return (
    <span
      title={isLeast ? 'Some calls have no price.' : undefined}
    >{`${isLeast ? '≥ ' : ''}${dollars(usd)}`}</span>
  )
}

function Change({ now, before }: Pick<SpendRow, 'now' | 'before'>) {
  const change = changeOfCost(now, before, ({ cost_usd: usd }) => usd, dollars)
  if (change === null) return <span class="quiet">{unknownFigure}</span>
  return (
    <span title={`was ${change.was}`}>
      {change.words === '' ? `was ${change.was}` : change.words}
      <span class="aside"> was {change.was}</span>
    </span>
  )
}
