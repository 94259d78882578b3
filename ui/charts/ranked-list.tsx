import { AddressLink } from '../data/navigation.tsx'
import type { PageAddress } from '../data/page-address.ts'
import { Meter } from '../design/meter.tsx'
import type { ColourName } from './palette.ts'

/** A row of a ranked list. */
export interface RankedRow {
  readonly key: string
  readonly words: string
  /** The length of the bar, 0 to 1; null if unknown. */
  readonly value: number | null
  readonly figure: string
  readonly note?: string | undefined
  /** The address of the row's calls; null if no filter selects them. */
  readonly to: Partial<PageAddress> | null
}

export interface RankedListProps {
  readonly rows: readonly RankedRow[]
  readonly colour: ColourName
}

/** Rows by size, with bars. Each row is a link to its calls. */
export function RankedList({ rows, colour }: RankedListProps) {
  const most = Math.max(0, ...rows.map(({ value }) => value ?? 0))
  return (
    <ol class="ranked-list stack" style={{ color: `var(--${colour})` }}>
      {rows.map((row) => (
        <li key={row.key}>
          <AddressLink class="ranked-row" to={row.to}>
            <span class="ranked-words cut" title={row.words}>
              {row.words}
            </span>
            {row.note !== undefined && <span class="finest">{row.note}</span>}
            <span class="ranked-figure">{row.figure}</span>
            <Meter share={row.value === null || most === 0 ? 0 : row.value / most} />
          </AddressLink>
        </li>
      ))}
    </ol>
  )
}
