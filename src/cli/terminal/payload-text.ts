import type { OutgoingRecord, PayloadRecord } from '../../api/raw-log.ts'
import { bytes, count } from './figures.ts'

/** A line of what is shown of a body; not cleaned of what a terminal would obey. */
export interface BodyLine {
  readonly text: string
  /** Ours, not the payload's. */
  readonly isRemark: boolean
}

/** Unless all is asked for: characters of a text within JSON, entries of an array, and lines and characters in all. */
const limits = { stringLength: 600, entries: 8, lines: 60, lineLength: 1000, textLength: 4000 } as const

/** What there is to show of a payload: JSON over several lines, a stream put together, or why there is nothing. */
export function bodyText(record: PayloadRecord | OutgoingRecord, full: boolean): readonly BodyLine[] {
  const streamed = record.direction === 'outgoing' ? streamLines(record as OutgoingRecord, full) : []
  const lines = streamed.length > 0 ? streamed : plainLines(record, full)
  if (!record.truncated) return lines
  const kept = `only the beginning was kept of ${bytes(record.body_bytes)}`
  return [...lines, remark(kept)]
}

/** What was put together from the events of a stream, if something was. */
function streamLines(
  { text, reasoning, tool_calls: toolCalls = [] }: OutgoingRecord,
  full: boolean,
): readonly BodyLine[] {
  const lines: BodyLine[] = []
  if (isSome(reasoning)) lines.push(remark('reasoning'), ...textLines(reasoning, full))
  for (const { name, arguments: args } of toolCalls) {
    lines.push(remark(`tool call ${name ?? 'without a name'}`), ...jsonOrText(args, full))
  }
  if (!isSome(text)) return lines
  return [...(lines.length > 0 ? [...lines, remark('text')] : []), ...textLines(text, full)]
}

function plainLines(
  { body, body_withheld, body_encoding, body_bytes }: PayloadRecord,
  full: boolean,
): BodyLine[] {
  if (body_withheld !== undefined) return [remark(`withheld: ${body_withheld}`)]
  if (body_bytes === 0) return [remark('no body')]
  if (body_encoding !== undefined) return [remark(`binary, ${bytes(body_bytes)}`)]
  if (body === null) return [remark(`not shown, ${bytes(body_bytes)}`)]
  if (typeof body === 'string') return textLines(body, full)
  try {
    return jsonLines(body, full)
  } catch {
    // Only of an endless depth can nothing be written that was read.
    return [remark(`too deep to be shown, ${bytes(body_bytes)}`)]
  }
}

function jsonOrText(text: string, full: boolean): readonly BodyLine[] {
  try {
    return jsonLines(JSON.parse(text), full)
  } catch {
    return textLines(text, full)
  }
}

function jsonLines(value: unknown, full: boolean): BodyLine[] {
  const shown = full ? value : shortened(value)
  return cutLines(JSON.stringify(shown, null, 2).split('\n'), full)
}

function textLines(text: string, full: boolean): BodyLine[] {
  const kept = full ? text : text.slice(0, limits.textLength)
  const lines = cutLines(kept.split(/\r\n|\r|\n/), full)
  return kept.length < text.length ? [...lines, moreOf(text.length - kept.length, 'characters')] : lines
}

function cutLines(lines: readonly string[], full: boolean): BodyLine[] {
  const shown = full ? lines : lines.slice(0, limits.lines)
  const cut = shown.map((text) => ({
    text: full || text.length <= limits.lineLength ? text : `${text.slice(0, limits.lineLength)}…`,
    isRemark: false,
  }))
  return shown.length < lines.length ? [...cut, moreOf(lines.length - shown.length, 'lines')] : cut
}

/** Long texts lose their ends, and long lists their middle: the last messages of a conversation tell the most. */
function shortened(value: unknown): unknown {
  if (typeof value === 'string') {
    if (value.length <= limits.stringLength) return value
    return `${value.slice(0, limits.stringLength).toWellFormed()}… ${count(value.length - limits.stringLength)} more`
  }
  if (Array.isArray(value)) {
    const entries = value as readonly unknown[]
    if (entries.length <= limits.entries) return entries.map(shortened)
    const half = limits.entries / 2
    const left = `… ${count(entries.length - limits.entries)} more`
    return [...entries.slice(0, half).map(shortened), left, ...entries.slice(-half).map(shortened)]
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shortened(member)]))
}

function moreOf(left: number, what: string): BodyLine {
  return remark(`… ${count(left)} more ${what}; --full shows all`)
}

function remark(text: string): BodyLine {
  return { text, isRemark: true }
}

function isSome(text: string | null | undefined): text is string {
  return text !== undefined && text !== null && text !== ''
}
