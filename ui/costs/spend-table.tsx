import { orderOf } from '../data/changed-address.ts'
import { AddressLink, useNavigation } from '../data/navigation.tsx'
import { byWords, filterOf, groupWords, idOf } from '../data/page-address.ts'
import { type FreeCalls, unpricedWords } from '../data/free-calls.ts'
import type { SpendColumnName } from '../data/sorted-columns.ts'
import { Card } from '../design/card.tsx'
import { Meter } from '../design/meter.tsx'
import { type Column, Table } from '../design/table/table.tsx'
import { costPerThousand } from '../format/cost-per-thousand.ts'
import { count, counted, dollars, orDash, percent, savedWords, unknownFigure } from '../format/figures.ts'
import {
  type SpendRow,
  changeOfCost,
  costPerMillion,
  costRatio,
  freeGroups,
  spendRows,
  tokensOf,
} from './spend-figures.ts'
import type { SpendParts } from './use-costs.ts'

/** The number of rows before "Show all". */
const rowsAtFirst = 10

/** The columns of figures, in order. */
const columns: readonly Column<SpendRow, SpendColumnName>[] = [
  {
    head: 'Cost',
    class: 'spend-cost',
    sort: ['cost', ({ now }) => now.cost_usd],
    cell: ({ now: { cost_usd: usd, unpriced_calls: unpriced }, freeCalls }) => (
      <>
        {orDash(usd, dollars)}
        {unpriced > 0 && (
          <small>
            {usd === null
              ? freeCalls > 0
                ? 'self-hosted'
                : 'no price'
              : unpricedWords(unpriced, freeCalls, '+ ')}
          </small>
        )}
      </>
    ),
  },
  {
    head: 'Share',
    class: 'is-share',
    sort: ['share', ({ share }) => share],
    cell: ({ share }) =>
      share !== null && (
        <span class="spend-share">
          <Meter share={share} />
          <span>{percent(share)}</span>
        </span>
      ),
  },
  { head: 'Change', class: 'is-more', sort: ['change', costRatio], cell: (row) => <Change {...row} /> },
  {
    head: 'Calls',
    class: 'is-some',
    sort: ['calls', ({ now }) => now.calls],
    cell: ({ now }) => count(now.calls),
  },
  {
    head: 'Tokens',
    class: 'is-some',
    sort: ['tokens', ({ now }) => tokensOf(now)],
    cell: ({ now }) => orDash(tokensOf(now), count),
  },
  {
    head: 'Cached input',
    class: 'is-more',
    sort: ['cached', ({ now }) => now.cached_share],
    cell: ({ now }) => (
      <>
        {orDash(now.cached_share, percent)}
        <small>{savedWords(now.cache_saved_usd)}</small>
      </>
    ),
  },
  {
    head: 'Per 1,000 calls',
    class: 'is-more',
    sort: ['per_call', ({ now }) => costPerThousand(now)],
    cell: ({ now }) => orDash(costPerThousand(now), dollars),
  },
  {
    head: 'Per 1M tokens',
    class: 'is-more is-million',
    sort: ['per_million', ({ now }) => costPerMillion(now)?.usd ?? null],
    cell: ({ now }) => <PerMillion now={now} />,
  },
]

interface SpendTableProps {
  readonly parts: SpendParts
  /** The unpriced calls that nobody bills; null while unknown. */
  readonly free: FreeCalls | null
}

/** The cost of each group. Each row is a link to its calls. */
export function SpendTable({ parts: { by, now, before }, free }: SpendTableProps) {
  const { address, go } = useNavigation()
  const rows = spendRows(now, before, freeGroups(now, by, free))
  const title = `Spend by ${byWords(by).toLowerCase()}`
  const name: Column<SpendRow> = {
    head: byWords(by),
    cell: ({ now }) => {
      const filter = filterOf(by, now, address.tags)
      return (
        <>
          <AddressLink
            class={`spend-name cut ${filter === null ? 'quiet' : ''}`}
            title={groupWords(by, now)}
            to={filter && { view: 'calls', sort: 'cost', ...filter }}
          >
            {groupWords(by, now)}
          </AddressLink>
          <small class="spend-brief">
            {counted(now.calls, 'call')}, {orDash(tokensOf(now), count)} tokens
          </small>
        </>
      )
    },
  }
  return (
    <Card title={title} about={before === null ? undefined : 'change vs. previous period'}>
      <Table
        caption={title}
        class="spend-table has-links"
        columns={[name, ...columns]}
        rows={rows}
        keyOf={({ now }) => idOf(now)}
        order={{
          name: orderOf('costs', address),
          rising: address.rising,
          onOrder: (order, rising) => go({ order, rising }),
        }}
        total={
          rows.length > 1 && {
            now: { key: null, ...now.summary },
            before: before?.summary ?? null,
            share: null,
            freeCalls: rows.reduce((sum, { freeCalls }) => sum + freeCalls, 0),
          }
        }
        most={rowsAtFirst}
      />
    </Card>
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
