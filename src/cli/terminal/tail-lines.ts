import type { CallStarted, OutgoingRecord, PayloadRecord } from '../../api/raw-log.ts'
import { isObject } from '../../lib/message-shape.ts'
import { shorten } from './display-width.ts'
import { printable } from './printable.ts'
import { bytes as formatBytes, duration, orDash, unknownFigure } from '../../lib/number-format.ts'
import { clockTime } from './clock-time.ts'
import { type LineStyle, paint, type Tone } from './paint.ts'

/** The widths of columns in characters. */
const statusWidth = 4
const durationWidth = 7

/** The line for the start of a call. */
export function startLine({ id, timestamp, method, path }: CallStarted, style: LineStyle): string {
  return lineOf(timestamp, '▸', id, `${method} ${path}`, 'faint', style)
}

/** The line for a call's request. */
export function requestLine(record: PayloadRecord, style: LineStyle): string {
  const { id, timestamp, method, path, body_bytes: bytes } = record
  const parts = [`${method} ${path}`, ...labelsOf(record), ...(bytes === 0 ? [] : [formatBytes(bytes)])]
  return lineOf(timestamp, '▸', id, parts.join('  '), 'plain', style)
}

/** The line for the end of a call; after a failure, a second line with the answer's error message. */
export function endLine(record: OutgoingRecord, style: LineStyle): string {
  const { id, timestamp, method, path, status, duration_ms: durationMs, body_bytes: bytes } = record
  const tone = toneOf(record)
  const sign = tone === 'plain' ? '✓' : tone === 'left' ? '·' : '✗'
  const labels = labelsOf(record)
  const parts = [
    String(status ?? unknownFigure).padEnd(statusWidth),
    orDash(durationMs, duration).padStart(durationWidth),
    ...(record.outcome === 'ok' ? [] : [record.failure_code ?? record.outcome]),
    ...(labels.length === 0 ? [`${method} ${path}`] : labels),
    formatBytes(bytes),
  ]
  const line = lineOf(timestamp, sign, id, parts.join('  '), tone, style)
  const message = tone === 'plain' ? '' : messageIn(record.body)
  if (message === '') return line
  const detail = shorten(printable(`  └ ${message}`), style.width)
  return `${line}\n${paint(tone, detail, style.color)}`
}

/** The colour of a call by its outcome. */
export function toneOf({ outcome }: OutgoingRecord): Tone {
  return outcome === 'ok' ? 'plain' : outcome === 'client_disconnected' ? 'left' : 'failed'
}

function lineOf(
  timestamp: string,
  sign: string,
  id: string,
  text: string,
  tone: Tone,
  style: LineStyle,
): string {
  const time = clockTime(Date.parse(timestamp), style.nowMs)
  return paint(tone, shorten(printable(`${time} ${sign} ${id}  ${text}`), style.width), style.color)
}

function labelsOf({ model, stream }: PayloadRecord): readonly string[] {
  return model === null ? [] : stream ? [model, 'stream'] : [model]
}

/** The message of an error body: `{"error":{"message":…}}` of OpenAI, Anthropic and tokenweir, or `{"error":"…"}`. */
function messageIn(body: unknown): string {
  if (!isObject(body)) return ''
  const { error, message } = body
  const text = typeof error === 'string' ? error : ((isObject(error) ? error['message'] : null) ?? message)
  return typeof text === 'string' ? text : ''
}
