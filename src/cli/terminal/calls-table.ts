import type { CallJson } from '../../call/call-record.ts'
import { shorten } from './display-width.ts'
import { count, counted, duration, dollars, orDash, speed, unknownFigure } from '../../lib/number-format.ts'
import { clockTime, zoneText } from './clock-time.ts'
import { paint, type Tone } from './paint.ts'
import { printable } from './printable.ts'
import { type Column, column, fitting, tableOf, type TableStyle, right } from './table-layout.ts'

/** Calls as aligned lines. */
export interface CallsTable {
  readonly header: string
  /** The line of a call, and a second one with the details of a failure. */
  readonly row: (call: CallJson) => string
  /** The line of totals. */
  readonly footer: string
}

/** The column for the end of a call, if there is room. */
const endColumn: Column<CallJson> = column('end', 5, endText, { typicalWidth: 20, tone: toneOf })

/** The columns after the time, from left to right. */
const columns: readonly Column<CallJson>[] = [
  column('model', 0, (call) => printable(call.model ?? unknownFigure), {
    typicalWidth: 24,
    cut: { minWidth: 16, at: 'middle' },
  }),
  column('type', 7, (call) => (call.stream ? `${call.call_type} stream` : call.call_type), {
    typicalWidth: 11,
  }),
  column('status', 0, statusText, { tone: toneOf }),
  column('total', 0, (call) => orDash(call.duration_ms, duration), { ...right, typicalWidth: 10 }),
  column('queue', 4, (call) => orDash(call.queue_ms, duration), { ...right, typicalWidth: 10 }),
  column('TTFT', 2, (call) => orDash(call.ttft_ms, duration), { ...right, typicalWidth: 7 }),
  column('tok/s', 3, (call) => orDash(call.output_tokens_per_s, speed), right),
  column('in', 1, (call) => orDash(call.input_tokens, count), { ...right, typicalWidth: 7 }),
  column('out', 1, (call) => orDash(call.output_tokens, count), { ...right, typicalWidth: 6, gap: ' → ' }),
  column('cost', 6, (call) => orDash(call.cost_usd, dollars), { ...right, typicalWidth: 8 }),
  column('client', 8, (call) => printable(call.client ?? unknownFigure), {
    typicalWidth: 12,
    cut: { minWidth: 12, at: 'end' },
  }),
  endColumn,
]

/** The table for some calls. `isAll` is false if there are older calls, too. */
export function callsTable(calls: readonly CallJson[], isAll: boolean, style: TableStyle): CallsTable {
  const { width, color, nowMs } = style
  const time = column<CallJson>(
    `time ${zoneText(nowMs)}`,
    0,
    (call) => clockTime(Date.parse(call.started_at), nowMs),
    { ...right, typicalWidth: 8, gap: '' },
  )
  const table = tableOf([time, ...columns], calls, style)
  const hasEndColumn = table.columns.includes(endColumn)
  return {
    header: table.header,
    row: (call) => {
      const detail = detailText(call, hasEndColumn)
      if (detail === '') return table.line(call)
      return `${table.line(call)}\n${paint(toneOf(call), shorten(`  └ ${detail}`, width), color)}`
    },
    footer: paint('faint', footerText(calls, isAll, width), color),
  }
}

/** `✓ 200`, `✗ 502`; `· 499` if the client left. */
function statusText(call: CallJson): string {
  const sign = call.failed ? '✗' : call.outcome === 'ok' ? '✓' : '·'
  return `${sign} ${call.status ?? unknownFigure}`
}

/** The finish reason, or the failure code. */
function endText(call: CallJson): string {
  return printable((call.outcome === 'ok' ? call.finish_reason : codeOf(call)) ?? unknownFigure)
}

/** The second line of a failed call: its error; '' if there is none. */
function detailText(call: CallJson, hasEndColumn: boolean): string {
  if (call.outcome === 'ok') return ''
  const codes = hasEndColumn ? [call.upstream_error_code] : [codeOf(call), call.upstream_error_code]
  const parts = [codes.filter((code) => code !== null).join(' '), call.error_message ?? '']
  return printable(parts.filter((part) => part !== '').join(': '))
}

function codeOf(call: CallJson): string {
  return call.failure_code ?? call.outcome
}

/** The colour of a call by its outcome. */
function toneOf(call: CallJson): Tone {
  return call.failed ? 'failed' : call.outcome === 'ok' ? 'plain' : 'left'
}

function footerText(calls: readonly CallJson[], isAll: boolean, width: number): string {
  const shown = counted(calls.length, 'call')
  const parts = [
    isAll ? shown : `the newest ${shown}`,
    `${calls.filter((call) => call.failed).length} failed`,
  ]
  const leftCount = calls.filter((call) => toneOf(call) === 'left').length
  if (leftCount > 0) parts.push(`${leftCount} left by the client`)
  const input = sum(calls, (call) => call.input_tokens)
  const output = sum(calls, (call) => call.output_tokens)
  parts.push(`${orDash(input, count)} → ${orDash(output, count)} tokens`)
  const cost = sum(calls, (call) => call.cost_usd)
  if (cost !== null) parts.push(dollars(cost))
  return fitting(parts, width)
}

/** The sum of the known values; `null` if none is known. */
function sum(calls: readonly CallJson[], valueOf: (call: CallJson) => number | null): number | null {
  const values = calls.map(valueOf).filter((value) => value !== null)
  return values.length === 0 ? null : values.reduce((total, value) => total + value)
}
