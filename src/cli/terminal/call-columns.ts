import type { CallJson } from '../../call/call-record.ts'
import { printable } from './printable.ts'
import { clockTime, count, duration, exactDollars, known, speed, unknownFigure } from './figures.ts'
import type { Tone } from './paint.ts'

/** A column of a table. */
export interface TableColumn<Row> {
  readonly title: string
  readonly align: 'left' | 'right'
  /** What stands between this column and the one before it. */
  readonly gap: string
  /** If the width does not suffice for all, the columns with the highest rank go first; rank 0 stays. */
  readonly rank: number
  /** Columns to reserve for calls that are yet to come. */
  readonly typicalWidth: number
  /** If it is narrower than its texts, the width down to which those may be cut, and where. */
  readonly cut: { readonly minWidth: number; readonly at: 'middle' | 'end' } | null
  readonly text: (row: Row, nowMs: number) => string
}

/** A column of the table of calls. */
export type CallColumn = TableColumn<CallJson>

export function column<Row = CallJson>(
  title: string,
  rank: number,
  typicalWidth: number,
  text: TableColumn<Row>['text'],
  options: Partial<TableColumn<Row>> = {},
): TableColumn<Row> {
  return { title, rank, typicalWidth, text, align: 'left', gap: '  ', cut: null, ...options }
}

const right = { align: 'right' } as const

/** All columns, from left to right. */
export const callColumns: readonly CallColumn[] = [
  column('time', 0, 8, (call, nowMs) => clockTime(Date.parse(call.started_at), nowMs), {
    align: 'right',
    gap: '',
  }),
  column('model', 0, 24, (call) => printable(call.model ?? unknownFigure), {
    cut: { minWidth: 16, at: 'middle' },
  }),
  column('type', 7, 11, (call) => (call.stream ? `${call.call_type} stream` : call.call_type)),
  column('status', 0, 6, statusText),
  column('total', 0, 10, (call) => known(call.duration_ms, duration), right),
  column('queue', 4, 10, (call) => known(call.queue_ms, duration), right),
  column('TTFT', 2, 7, (call) => known(call.ttft_ms, duration), right),
  column('tok/s', 3, 5, (call) => known(call.output_tokens_per_s, speed), right),
  column('in', 1, 7, (call) => known(call.input_tokens, count), right),
  column('out', 1, 6, (call) => known(call.output_tokens, count), { align: 'right', gap: ' → ' }),
  column('cost', 6, 8, (call) => known(call.cost_usd, exactDollars), right),
  column('client', 8, 12, (call) => printable(call.client ?? unknownFigure), {
    cut: { minWidth: 12, at: 'end' },
  }),
]

/** How the call ended, if there is room for it. */
export const endColumn: CallColumn = column('end', 5, 20, endText)

/** `✓ 200`, `✗ 502`; `· 499` if the client left. */
function statusText(call: CallJson): string {
  const sign = call.failed ? '✗' : call.outcome === 'ok' ? '✓' : '·'
  return `${sign} ${call.status ?? unknownFigure}`
}

/** The finish reason, or the code of what went wrong. */
function endText(call: CallJson): string {
  return printable((call.outcome === 'ok' ? call.finish_reason : codeOf(call)) ?? unknownFigure)
}

/** What is to be said of a call that did not end well beyond what its line says; '' if there is nothing. */
export function detailText(call: CallJson, hasEndColumn: boolean): string {
  if (call.outcome === 'ok') return ''
  const codes = hasEndColumn ? [call.upstream_error_code] : [codeOf(call), call.upstream_error_code]
  const parts = [codes.filter((code) => code !== null).join(' '), call.error_message ?? '']
  return printable(parts.filter((part) => part !== '').join(': '))
}

function codeOf(call: CallJson): string {
  return call.failure_code ?? call.outcome
}

/** Whether the call failed, or its client left. */
export function toneOf(call: CallJson): Tone {
  return call.failed ? 'failed' : call.outcome === 'ok' ? 'plain' : 'left'
}
