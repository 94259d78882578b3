import type { CallJson } from '../../call/call-record.ts'
import { type CallColumn, callColumns, detailText, endColumn, toneOf } from './call-columns.ts'
import { displayWidth, pad, shorten } from './display-width.ts'
import { count, counted, exactDollars, known, unknownFigure } from './figures.ts'
import { paint, type Tone } from './paint.ts'

export interface CallsTableOptions {
  /** Columns that a line may take. */
  readonly width: number
  readonly color: boolean
  /** Milliseconds since the Unix epoch: calls of other days are shown with their date. */
  readonly nowMs: number
  /** More calls will follow those that the widths are taken from. */
  readonly open: boolean
}

interface Sized {
  readonly column: CallColumn
  readonly width: number
}

const detailIndent = '  └ '

/** Calls as aligned lines. Which columns there are follows from the width, and how wide they are from the calls. */
export class CallsTable {
  readonly #options: CallsTableOptions
  readonly #columns: readonly Sized[]

  constructor(calls: readonly CallJson[], options: CallsTableOptions) {
    this.#options = options
    this.#columns = layOut(calls, options)
  }

  header(): string {
    return this.#paint('faint', this.#line(this.#columns.map(({ column }) => column.title)))
  }

  /** One line, and a second one with what else there is to say of a call that did not end well. */
  row(call: CallJson): string {
    const tone = toneOf(call)
    const texts = this.#columns.map(({ column }) => column.text(call, this.#options.nowMs))
    const line = this.#line(texts, tone)
    const hasEndColumn = this.#columns.some(({ column }) => column === endColumn)
    const detail = detailText(call, hasEndColumn)
    if (detail === '') return line
    return `${line}\n${this.#paint(tone, shorten(detailIndent + detail, this.#options.width))}`
  }

  /** What the calls come to. */
  footer(calls: readonly CallJson[]): string {
    const failed = calls.filter((call) => call.failed).length
    const left = calls.filter((call) => toneOf(call) === 'left').length
    const parts = [counted(calls.length, 'call'), `${failed} failed`]
    if (left > 0) parts.push(`${left} left by the client`)
    const input = sum(calls, (call) => call.input_tokens)
    const output = sum(calls, (call) => call.output_tokens)
    parts.push(`${known(input, count)} → ${known(output, count)} tokens`)
    const cost = sum(calls, (call) => call.cost_usd)
    if (cost !== null) parts.push(exactDollars(cost))
    while (parts.length > 1 && displayWidth(parts.join(' · ')) > this.#options.width) parts.pop()
    return this.#paint('faint', parts.join(' · '))
  }

  #line(texts: readonly string[], tone: Tone = 'plain'): string {
    let line = ''
    for (const [index, { column, width }] of this.#columns.entries()) {
      const cell = pad(cutText(texts[index] ?? '', column, width), width, column.align)
      const painted = column.title === 'status' || column === endColumn ? this.#paint(tone, cell) : cell
      line += index === 0 ? painted : column.gap + painted
    }
    return line.trimEnd()
  }

  #paint(tone: Tone, text: string): string {
    return paint(tone, text, this.#options.color)
  }
}

function cutText(text: string, { cut }: CallColumn, width: number): string {
  return cut === null ? text : shorten(text, width, cut.at)
}

/** Takes columns away until the others fit, then gives those that can be cut what room is left. */
function layOut(calls: readonly CallJson[], options: CallsTableOptions): readonly Sized[] {
  let sized = [...callColumns, endColumn]
    .filter(
      (column) => options.open || column.rank < 2 || calls.some((call) => isKnown(column, call, options)),
    )
    .map((column) => ({ column, width: naturalWidth(column, calls, options) }))
  while (leastWidth(sized) > options.width) {
    const rank = Math.max(...sized.map(({ column }) => column.rank))
    if (rank === 0) break
    sized = sized.filter(({ column }) => column.rank < rank)
  }
  let excess = totalWidth(sized) - options.width
  // From the right, so that the model's name is cut last.
  for (const [index, { column, width }] of [...sized.entries()].toReversed()) {
    const spare = Math.min(Math.max(0, excess), Math.max(0, width - leastWidthOf(column, width)))
    excess -= spare
    sized[index] = { column, width: width - spare }
  }
  return sized
}

function isKnown(column: CallColumn, call: CallJson, { nowMs }: CallsTableOptions): boolean {
  return column.text(call, nowMs) !== unknownFigure
}

function naturalWidth(column: CallColumn, calls: readonly CallJson[], options: CallsTableOptions): number {
  const widths = calls.map((call) => displayWidth(column.text(call, options.nowMs)))
  return Math.max(column.title.length, options.open ? column.typicalWidth : 0, ...widths)
}

function leastWidthOf({ cut }: CallColumn, width: number): number {
  return cut === null ? width : Math.min(width, cut.minWidth)
}

function leastWidth(sized: readonly Sized[]): number {
  return totalWidth(sized.map(({ column, width }) => ({ column, width: leastWidthOf(column, width) })))
}

function totalWidth(sized: readonly Sized[]): number {
  return sized.reduce(
    (sum, { column, width }, index) => sum + width + (index === 0 ? 0 : column.gap.length),
    0,
  )
}

/** The sum of what is known, `null` if nothing is. */
function sum(calls: readonly CallJson[], valueOf: (call: CallJson) => number | null): number | null {
  const values = calls.map(valueOf).filter((value) => value !== null)
  return values.length === 0 ? null : values.reduce((total, value) => total + value)
}
