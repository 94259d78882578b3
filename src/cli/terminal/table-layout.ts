import { displayWidth, pad, shorten } from './display-width.ts'
import { unknownFigure } from '../../lib/number-format.ts'
import { type LineStyle, type Tone, paint } from './paint.ts'
import { type Terminal, lineStyle } from './terminal.ts'

/** A column of a table. */
export interface Column<Row> {
  readonly title: string
  readonly align: 'left' | 'right'
  /** The separator before this column. */
  readonly gap: string
  /** In a narrow terminal, columns with the highest rank are dropped first. Rank 0 is never dropped. */
  readonly rank: number
  /** In an open table: the width in columns to reserve for rows that are still to come. */
  readonly typicalWidth: number
  /** How texts may be cut: down to `minWidth` columns, in the middle or at the end; null for never. */
  readonly cut: { readonly minWidth: number; readonly at: 'middle' | 'end' } | null
  readonly text: (row: Row, nowMs: number) => string
  /** The colour of a cell (default: plain). */
  readonly tone?: (row: Row) => Tone
}

/** A column. By default its text is aligned to the left and never cut. */
export function column<Row>(
  title: string,
  rank: number,
  text: Column<Row>['text'],
  options: Partial<Column<Row>> = {},
): Column<Row> {
  return { title, rank, text, typicalWidth: 0, align: 'left', gap: '  ', cut: null, ...options }
}

/** Options of a column of numbers. */
export const right = { align: 'right' } as const

/** A column and its width in terminal columns. */
interface SizedColumn<Row> {
  readonly column: Column<Row>
  room: number
}

/** The style of a table. */
export interface TableStyle extends LineStyle {
  /** True if more rows will follow those from which the widths are computed. */
  readonly open?: boolean
}

/** A table whose widths are known. */
export interface Table<Row> {
  /** The columns that are shown. */
  readonly columns: readonly Column<Row>[]
  readonly header: string
  /** The line of a row, in the colours of its columns. */
  readonly line: (row: Row) => string
}

/** Lays out a table: the terminal's width decides which columns are shown, the rows decide their widths. */
export function tableOf<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  style: TableStyle,
): Table<Row> {
  const { color, nowMs, width } = style
  const sized = layOut(columns, rows, style)
  const line = (cellOf: (cell: SizedColumn<Row>) => string): string =>
    sized.map((entry) => entry.column.gap + cellOf(entry)).join('')
  const header = shorten(line((entry) => padded(entry, entry.column.title)).trimEnd(), width)
  return {
    columns: sized.map(({ column }) => column),
    header: paint('faint', header, color),
    line: (row) => {
      const painted = (entry: SizedColumn<Row>): string =>
        paint(entry.column.tone?.(row) ?? 'plain', padded(entry, entry.column.text(row, nowMs)), color)
      return line(painted).trimEnd()
    },
  }
}

function padded<Row>({ column: { align, cut }, room }: SizedColumn<Row>, text: string): string {
  return pad(cut === null ? text : shorten(text, room, cut.at), room, align)
}

/** Drops columns until the others can fit, then narrows those that can be cut. */
function layOut<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { width, nowMs, open = false }: TableStyle,
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
    sized.reduce((total, entry) => total + entry.column.gap.length + entry[size], -width)
  while (excess('least') > 0) {
    const rank = Math.max(...sized.map(({ column }) => column.rank))
    if (rank === 0) break
    sized = sized.filter(({ column }) => column.rank < rank)
  }
  // From the right, so that the first name is cut last.
  for (const entry of sized.toReversed())
    entry.room = Math.max(entry.least, entry.room - Math.max(0, excess('room')))
  return sized
}

/** Prints rows under their header. */
export function printTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  terminal: Terminal,
): void {
  const { header, line } = tableOf(columns, rows, lineStyle(terminal))
  terminal.print(`${[header, ...rows.map((row) => line(row))].join('\n')}\n`)
}

/** As many parts of a footer as fit in `width` columns, but at least the first one. */
export function fitting(parts: readonly string[], width: number): string {
  const fitting = [...parts]
  while (fitting.length > 1 && displayWidth(fitting.join(' · ')) > width) fitting.pop()
  return fitting.join(' · ')
}
