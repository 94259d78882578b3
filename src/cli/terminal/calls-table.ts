import type { CallJson } from '../../call/call-record.ts'
import {
  type CallColumn,
  type TableColumn,
  callColumns,
  detailText,
  endColumn,
  toneOf,
} from './call-columns.ts'
import { displayWidth, pad, shorten } from './display-width.ts'
import { count, counted, exactDollars, known, unknownFigure } from './figures.ts'
import { type LineStyle, paint, type Tone } from './paint.ts'

interface CallsTableOptions extends LineStyle {
  /** More calls will follow those that the widths are taken from. */
  readonly open: boolean
}

/** Calls as aligned lines. */
export interface CallsTable {
  readonly header: string
  /** One line, and a second one with what else there is to say of a call that did not end well. */
  readonly row: (call: CallJson) => string
  /** What the calls come to. */
  readonly footer: string
}

/** Which columns there are follows from the width, and how wide they are from the calls. */
export function callsTable(calls: readonly CallJson[], options: CallsTableOptions): CallsTable {
  const { width, color, nowMs } = options
  const columns = layOut(calls, [...callColumns, endColumn], options)
  const hasEndColumn = columns.some(({ column }) => column === endColumn)
  const lineOf = (textOf: (column: CallColumn) => string, tone: Tone = 'plain'): string => {
    const cells = columns.map((sized) => {
      const { column } = sized
      const { gap, title } = column
      const cell = cellOf(sized, textOf(column))
      return gap + (title === 'status' || column === endColumn ? paint(tone, cell, color) : cell)
    })
    return cells.join('').trimEnd()
  }
  return {
    header: paint(
      'faint',
      lineOf(({ title }) => title),
      color,
    ),
    row: (call) => {
      const tone = toneOf(call)
      const line = lineOf(({ text }) => text(call, nowMs), tone)
      const detail = detailText(call, hasEndColumn)
      if (detail === '') return line
      return `${line}\n${paint(tone, shorten(`  └ ${detail}`, width), color)}`
    },
    footer: paint('faint', footerText(calls, width), color),
  }
}

function footerText(calls: readonly CallJson[], width: number): string {
  const parts = [counted(calls.length, 'call'), `${calls.filter((call) => call.failed).length} failed`]
  const left = calls.filter((call) => toneOf(call) === 'left').length
  if (left > 0) parts.push(`${left} left by the client`)
  const input = sum(calls, (call) => call.input_tokens)
  const output = sum(calls, (call) => call.output_tokens)
  parts.push(`${known(input, count)} → ${known(output, count)} tokens`)
  const cost = sum(calls, (call) => call.cost_usd)
  if (cost !== null) parts.push(exactDollars(cost))
  while (parts.length > 1 && displayWidth(parts.join(' · ')) > width) parts.pop()
  return parts.join(' · ')
}

/** A column and how wide it is: as its texts, and what they can be cut to. */
export interface SizedColumn<Row> {
  readonly column: TableColumn<Row>
  room: number
  readonly least: number
}

/** A text in its column's room. */
export function cellOf<Row>({ column, room }: SizedColumn<Row>, text: string): string {
  const { cut, align } = column
  return pad(cut === null ? text : shorten(text, room, cut.at), room, align)
}

/** Takes columns away until the others fit, then takes from those that can be cut what is still too much. */
export function layOut<Row>(
  rows: readonly Row[],
  columns: readonly TableColumn<Row>[],
  { width, nowMs, open }: Omit<CallsTableOptions, 'color'>,
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
  // From the right, so that the model's name is cut last.
  for (const one of sized.toReversed()) one.room = Math.max(one.least, one.room - Math.max(0, excess('room')))
  return sized
}

/** The sum of what is known, `null` if nothing is. */
function sum(calls: readonly CallJson[], valueOf: (call: CallJson) => number | null): number | null {
  const values = calls.map(valueOf).filter((value) => value !== null)
  return values.length === 0 ? null : values.reduce((total, value) => total + value)
}
