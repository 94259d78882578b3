import type { EventSourceMessage } from 'eventsource-parser'
import type { OutgoingRecord, PayloadRecord } from '../../api/raw-log.ts'
import { readMessage } from '../../lib/message-shape.ts'
import type { ValuesOf } from '../../options/option-spec.ts'
import { type FeedNote, isFeedNote, isFeedRecord } from '../../supervisor/feed-events.ts'
import type { table } from '../commands/tail.ts'
import { count } from '../../lib/number-format.ts'
import { HeldRequests } from './held-requests.ts'
import type { LineStyle } from './paint.ts'
import { endLine, requestLine, startLine, toneOf } from './tail-lines.ts'
import { lineStyle, type Terminal } from './terminal.ts'

/** The calls to print, and how much of each. */
type TailOptions = Pick<ValuesOf<typeof table>, 'errors' | 'model' | 'json'>
type TailOutput = Pick<Terminal, 'clock' | 'print' | 'warn' | 'width' | 'color'>

function isFeedEvent(value: unknown): value is FeedNote | PayloadRecord | OutgoingRecord {
  return isFeedNote(value) || isFeedRecord(value)
}
/** A lost connection is reported only after this time, because a restart takes less. */
const patienceMs = 1500

/** Prints the events of the feed. `name` returns the gateway's name for messages. */
export function tailPrinter(
  { errors, model, json }: TailOptions,
  { clock, print, warn, width, color }: TailOutput,
  name: () => string,
): {
  readonly take: (event: EventSourceMessage) => void
  readonly lost: () => void
  readonly end: () => void
} {
  /** Requests, as JSON, of calls that may still fail; used with `--errors`. */
  const requests = new HeldRequests()
  let isGreeted = false
  let isLost = false
  let isLossShown = false
  let cancelLost = (): void => {}

  const note = (words: string): void => warn(`tokenweir: ${words}\n`)
  const style = (): LineStyle => lineStyle({ width, color, clock })

  const show = (line: (style: LineStyle) => string, data: string): void =>
    print(`${json ? data : line(style())}\n`)

  const greet = (isLogging: boolean): void => {
    cancelLost()
    if (isLossShown) note('reconnected to the gateway')
    if (isGreeted && isLost) note('requests and responses may be missing here')
    isLossShown = false
    isLost = false
    if (isGreeted) return
    isGreeted = true
    const capture = isLogging
      ? 'payloads are captured in its log too'
      : 'payloads are not captured: turn on capture in the Live view, or start with --raw-log'
    note(`following the gateway on ${name()}; ${capture}`)
  }

  const takeRecord = (record: PayloadRecord | OutgoingRecord, data: string): void => {
    if (model.length > 0 && !model.includes(record.model ?? '')) return
    if (!isAnswer(record)) {
      if (!errors && (json || model.length > 0)) show((style) => requestLine(record, style), data)
      else if (json) requests.add(record.id, data)
      return
    }
    const request = requests.take(record.id)
    if (errors && toneOf(record) !== 'failed') return
    if (request !== null) print(`${request}\n`)
    show((style) => endLine(record, style), data)
  }

  return {
    take: ({ data }) => {
      const event = readMessage(data, isFeedEvent)
      if (event === null) return
      if (!('type' in event)) takeRecord(event, data)
      else if (event.type === 'connected') greet(event.enabled)
      else if (event.type === 'dropped') note(droppedText(event.count))
      // A call's model and end are unknown at its start.
      else if (!json && !errors && model.length === 0) print(`${startLine(event, style())}\n`)
    },
    lost: () => {
      isLost = true
      const printLoss = (): void => {
        isLossShown = true
        note('lost the connection to the gateway; waiting for it')
      }
      cancelLost = clock.after(patienceMs, printLoss, { background: true })
    },
    end: () => cancelLost(),
  }
}

function isAnswer(record: PayloadRecord | OutgoingRecord): record is OutgoingRecord {
  return record.direction === 'outgoing'
}

function droppedText(dropped: number): string {
  const what = dropped === 1 ? '1 request or response is' : `${count(dropped)} requests and responses are`
  return `${what} missing here: too many at once`
}
