import { displayWidth, pad, shorten } from './display-width.ts'
import { unknownFigure } from './figures.ts'
import { paint } from './paint.ts'
import type { Terminal } from './terminal.ts'

/** A column of a table. */
export interface Column<Row> {
  readonly title: string
  readonly align: 'left' | 'right'
  /** What stands between this column and the one before it. */
  readonly gap: string
  /** If the width does not suffice for all, the columns with the highest rank go first; rank 0 stays. */
  readonly rank: number
  /** Columns to reserve for rows that are yet to come. */
  readonly typicalWidth: number
  /** If it is narrower than its texts, the width down to which those may be cut, and where. */
  readonly cut: { readonly minWidth: number; readonly at: 'middle' | 'end' } | null
  readonly text: (row: Row, nowMs: number) => string
}

/** A column whose text stands left, and is never cut, unless the options say otherwise. */
export function column<Row>(
  title: string,
  rank: number,
  typicalWidth: number,
  text: Column<Row>['text'],
  options: Partial<Column<Row>> = {},
): Column<Row> {
  return { title, rank, typicalWidth, text, align: 'left', gap: '  ', cut: null, ...options }
}

/** A column that has room. */
export interface SizedColumn<Row> {
  readonly column: Column<Row>
  room: number
}

/** Takes columns away until the others fit, then takes from those that can be cut what is still too much. */
export function layOut<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { width, nowMs, open }: { readonly width: number; readonly nowMs: number; readonly open: boolean },
): readonly SizedColumn<Row>[] {
  let sized = columns.flatMap((column) => {
    const texts = rows.map((row) => column.text(row, nowMs))
    if (!open && column.rank > 1 && texts.every((text) => text === unknownFigure)) return []
    const room = Math.max(
      column.title.length,
      open ? column.typicalWidth : 0,
      ...texts.map((text) => displayWidth(text)),
    )
    return [{ column, room, least: Math.min(room, column.cut?.minWidth ?? room) }]
  })
  const excess = (size: 'room' | 'least'): number =>
    sized.reduce((total, one) => total + one.column.gap.length + one[size], -width)
  while (excess('least') > 0) {
    const rank = Math.max(...sized.map(({ column }) => column.rank))
    if (rank === 0) break
    sized = sized.filter(({ column }) => column.rank < rank)
  }
  // From the right, so that the first name is cut last.
  for (const one of sized.toReversed()) one.room = Math.max(one.least, one.room - Math.max(0, excess('room')))
  return sized
}

/** One line of a table; `paintCell` gets each cell in its full width. */
export function lineOf<Row>(
  columns: readonly SizedColumn<Row>[],
  textOf: (column: Column<Row>) => string,
  paintCell: (cell: string, column: Column<Row>) => string = (cell) => cell,
): string {
  const cells = columns.map(({ column, room }) => {
    const { cut, align, gap } = column
    const text = cut === null ? textOf(column) : shorten(textOf(column), room, cut.at)
    return gap + paintCell(pad(text, room, align), column)
  })
  return cells.join('').trimEnd()
}

export function headerLine<Row>(columns: readonly SizedColumn<Row>[], color: boolean): string {
  return paint(
    'faint',
    lineOf(columns, ({ title }) => title),
    color,
  )
}

/** Prints rows under their header. */
export function printTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { print, clock, color, width }: Terminal,
): void {
  const nowMs = clock.wallTime()
  const shown = layOut(columns, rows, { width: width(), nowMs, open: false })
  print(`${headerLine(shown, color)}\n`)
  for (const row of rows) print(`${lineOf(shown, ({ text }) => text(row, nowMs))}\n`)
}

/** As many parts of a footer as fit, the first of them in any case. */
export function fitting(parts: readonly string[], width: number): string {
  const fitting = [...parts]
  while (fitting.length > 1 && displayWidth(fitting.join(' · ')) > width) fitting.pop()
  return fitting.join(' · ')
}
