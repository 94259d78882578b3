import { StateMark } from '../design/icon.tsx'
import type { Column } from '../design/table/table.tsx'
import { count, orDash } from '../format/figures.ts'
import type { StateShape, Tone } from '../data/gateway-now.ts'

/** The state of a row: an upstream, a gateway, or a provider's limits. */
export interface RowState {
  readonly shape: StateShape
  readonly tone: Tone
  readonly words: string
  readonly details: readonly string[]
}

/** Returns the column of used slots, with the number of all slots. */
export function inFlight<Row>(
  usedOf: (row: Row) => readonly [active: number | null | undefined, slots: string | null],
): Column<Row> {
  return {
    head: 'In flight',
    cell: (row) => {
      const [active, slots] = usedOf(row)
      return (
        <>
          {orDash(active, count)}
          {slots !== null && <span class="quiet"> of {slots}</span>}
        </>
      )
    },
  }
}

/** Returns the column of waiting calls. */
export function waiting<Row>(waitingOf: (row: Row) => number | null | undefined): Column<Row> {
  return {
    head: 'Waiting',
    cell: (row) => (
      <span class={(waitingOf(row) ?? 0) > 0 ? 'is-queue' : ''}>{orDash(waitingOf(row), count)}</span>
    ),
  }
}

/** Returns the column of the rows' states, with details below. */
export function state<Row>(stateOf: (row: Row) => RowState): Column<Row> {
  return {
    head: 'State',
    isWords: true,
    cell: (row) => {
      const { shape, tone, words, details } = stateOf(row)
      return (
        <>
          <span class={`is-${tone}`}>
            <StateMark shape={shape} /> {words}
          </span>
          {details.map((detail) => (
            <small key={detail}>{detail}</small>
          ))}
        </>
      )
    },
  }
}
