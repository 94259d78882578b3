import { useMemo, useState } from 'preact/hooks'
import { AddressLink, useNavigation } from '../data/navigation.tsx'
import { type CompareBy, byWords, filterOf, namelessOf } from '../data/page-address.ts'
import { Button } from '../design/button.tsx'
import { Card } from '../design/card.tsx'
import { Meter } from '../design/meter.tsx'
import { Table } from '../design/table/table.tsx'
import { costPerThousand } from '../format/cost-per-thousand.ts'
import { count, counted, dollars, known, percent, savedWords, unknownFigure } from '../format/figures.ts'
import { type SpendRow, changeOfCost, costPerMillion, spendRows, tokensOf } from './spend-figures.ts'
import type { SpendParts } from './use-costs.ts'

/** More are there when they are asked for. */
const rowsAtFirst = 10

/** The cost of each model, or client; each row leads to its calls. */
export function SpendTable({ parts: { by, now, before } }: { readonly parts: SpendParts }) {
  const [isWhole, setWhole] = useState(false)
  const rows = useMemo(() => spendRows(now, before), [now, before])
  const title = `Spend by ${byWords(by).toLowerCase()}`
  const shown = isWhole ? rows : rows.slice(0, rowsAtFirst)
  return (
    <Card title={title} about={before === null ? undefined : 'change vs. previous period'}>
      <Table
        caption={title}
        columns={[
          byWords(by),
          { words: 'Cost', class: 'spend-cost' },
          { words: 'Share', class: 'is-share' },
          { words: 'Change', class: 'is-more' },
          { words: 'Calls', class: 'is-some' },
          { words: 'Tokens', class: 'is-some' },
          { words: 'Cached input', class: 'is-more' },
          { words: 'Per 1,000 calls', class: 'is-more' },
          { words: 'Per 1M tokens', class: 'is-more is-million' },
        ]}
        class="spend-table"
      >
        <tbody>
          {shown.map((row) => (
            <tr key={row.name ?? '\0'}>
              <th scope="row">
                <Name by={by} name={row.name} />
                <small class="spend-brief">
                  {counted(row.now.calls, 'call')}, {known(tokensOf(row.now), count)} tokens
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
              <Cells now={now.summary} before={before?.summary ?? null} share={null} />
            </tr>
          </tfoot>
        )}
      </Table>
      {rows.length > rowsAtFirst && (
        <Button kind="bare" small class="spend-table-more" onClick={() => setWhole(!isWhole)}>
          {isWhole ? `Show top ${rowsAtFirst}` : `Show all ${count(rows.length)}`}
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

function Cells({ now, before, share }: Omit<SpendRow, 'name'>) {
  const perMillion = costPerMillion(now)
  const unpriced = now.unpriced_calls
  return (
    <>
      <td class="spend-cost">
        {known(now.cost_usd, dollars)}
        {unpriced > 0 && (
          <small>{now.cost_usd === null ? 'no price' : `+ ${count(unpriced)} unpriced`}</small>
        )}
      </td>
      <td class="is-share">
        {share !== null && (
          <span class="spend-share">
            <Meter share={share} />
            <span>{percent(share)}</span>
          </span>
        )}
      </td>
      <td class="is-more">
        <Change now={now} before={before} />
      </td>
      <td class="is-some">{count(now.calls)}</td>
      <td class="is-some">{known(tokensOf(now), count)}</td>
      <td class="is-more">
        {known(now.cached_share, percent)}
        <small>{savedWords(now.cache_saved_usd)}</small>
      </td>
      <td class="is-more">{known(costPerThousand(now), dollars)}</td>
      <td class="is-more" title={perMillion?.isLeast === true ? 'Some calls have no price.' : undefined}>
        {perMillion === null ? unknownFigure : `${perMillion.isLeast ? '≥ ' : ''}${dollars(perMillion.usd)}`}
      </td>
    </>
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
