import { AddressLink } from '../data/navigation.tsx'
import type { PageAddress } from '../data/page-address.ts'
import type { ColourName } from './palette.ts'

/** One entry of a ranked list. */
export interface RankedRow {
  readonly key: string
  readonly words: string
  /** Length of the bar, 0 to 1; null if unknown. */
  readonly value: number | null
  readonly figure: string
  readonly note?: string | undefined
  /** The address of its calls; null if no filter selects them. */
  readonly to: Partial<PageAddress> | null
}

export interface RankedListProps {
  readonly rows: readonly RankedRow[]
  readonly colour: ColourName
}

/** Rows by size, with bars; each row leads to its calls. */
export function RankedList({ rows, colour }: RankedListProps) {
  const most = Math.max(0, ...rows.map(({ value }) => value ?? 0))
  return (
    <ol class="ranked-list" style={{ color: `var(--${colour})` }}>
      {rows.map((row) => (
        <li key={row.key}>
          {row.to === null ? (
            <span class="ranked-row">
              <Row row={row} most={most} />
            </span>
          ) : (
            <AddressLink class="ranked-row" to={row.to}>
              <Row row={row} most={most} />
            </AddressLink>
          )}
        </li>
      ))}
    </ol>
  )
}

function Row({
  row: { words, value, figure, note },
  most,
}: {
  readonly row: RankedRow
  readonly most: number
}) {
  const share = value === null || most === 0 ? 0 : value / most
  return (
    <>
      <span class="ranked-words cut" title={words}>
        {words}
      </span>
      {note !== undefined && <span class="finest">{note}</span>}
      <span class="ranked-figure">{figure}</span>
      <span class="ranked-bar">
        {share > 0 && <span style={{ width: `max(2px, ${(share * 100).toFixed(1)}%)` }} />}
      </span>
    </>
  )
}
