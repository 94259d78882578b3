import type { CallJson } from '../../call/call-record.ts'
import { callColumns, detailText, endColumn, toneOf } from './call-columns.ts'
import { shorten } from './display-width.ts'
import { count, counted, exactDollars, known } from './figures.ts'
import { type LineStyle, paint, type Tone } from './paint.ts'
import { fitting, headerLine, layOut, lineOf } from './table-layout.ts'

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
  const columns = layOut([...callColumns, endColumn], calls, options)
  const hasEndColumn = columns.some(({ column }) => column === endColumn)
  const line = (call: CallJson, tone: Tone): string =>
    lineOf(
      columns,
      ({ text }) => text(call, nowMs),
      (cell, column) => (column.title === 'status' || column === endColumn ? paint(tone, cell, color) : cell),
    )
  return {
    header: headerLine(columns, color),
    row: (call) => {
      const tone = toneOf(call)
      const detail = detailText(call, hasEndColumn)
      if (detail === '') return line(call, tone)
      return `${line(call, tone)}\n${paint(tone, shorten(`  └ ${detail}`, width), color)}`
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
  return fitting(parts, width)
}

/** The sum of what is known, `null` if nothing is. */
function sum(calls: readonly CallJson[], valueOf: (call: CallJson) => number | null): number | null {
  const values = calls.map(valueOf).filter((value) => value !== null)
  return values.length === 0 ? null : values.reduce((total, value) => total + value)
}
