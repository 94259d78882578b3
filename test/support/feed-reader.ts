import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { Condition } from './condition.ts'
import { type JsonRecord, parseRecord } from './json-record.ts'

export interface FeedReaderOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly path?: string
}

/** One event as it came, its id where it has one. */
export interface FeedEvent {
  readonly id: number | null
  readonly data: JsonRecord
}

/** A reader of the live feed of payloads, on a connection of its own. */
export interface FeedReader extends Disposable {
  readonly response: IncomingMessage
  readonly events: readonly FeedEvent[]
  /** Records alone, in the order in which they came. */
  readonly records: readonly JsonRecord[]
  /** How many comments came. */
  readonly beats: number
  /** Waits for the first answer that is not `undefined`. */
  until<T>(probe: () => T | undefined, what: string): Promise<T>
  /** Waits until there are so many events. */
  waitFor(count: number): Promise<readonly FeedEvent[]>
  /** Waits until there are so many records. */
  waitForRecords(count: number): Promise<readonly JsonRecord[]>
  waitForEnd(): Promise<void>
  stopReading(): void
  resumeReading(): void
}

/** `using reader = await openFeed(port)`; the stream has begun when this resolves. Rejects where it is refused. */
export async function openFeed(port: number, options: FeedReaderOptions = {}): Promise<FeedReader> {
  const { headers = {}, path = '/v1/raw-log/stream' } = options
  const sent = request({ port, host: '127.0.0.1', path, headers, agent: false }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  if (response.statusCode !== 200) throw new Error(`the feed answered ${response.statusCode}`)
  const condition = new Condition()
  const events: FeedEvent[] = []
  const records: JsonRecord[] = []
  let beats = 0
  let pending = ''
  let isOver = false
  const take = (block: string): void => {
    if (block === ':') beats += 1
    const [, id, data] = /^(?:id: (\d+)\n)?data: ([^\n]*)$/.exec(block) ?? []
    if (data === undefined) return
    const event = { id: id === undefined ? null : Number(id), data: parseRecord(data) }
    events.push(event)
    if (event.id !== null) records.push(event.data)
  }
  response.setEncoding('utf8').on('data', (text: string) => {
    const blocks = (pending + text).split('\n\n')
    pending = blocks.pop() ?? ''
    for (const block of blocks) take(block)
    condition.changed()
  })
  response.on('error', () => undefined)
  response.on('close', () => {
    isOver = true
    condition.changed()
  })
  const until = <T>(probe: () => T | undefined, what: string): Promise<T> => condition.until(probe, what)
  const reader: FeedReader = {
    response,
    events,
    records,
    get beats() {
      return beats
    },
    until,
    waitFor: (count) => until(() => (events.length >= count ? events : undefined), `${count} events`),
    waitForRecords: (count) =>
      until(() => (records.length >= count ? records : undefined), `${count} records`),
    waitForEnd: () => until(() => (isOver ? true : undefined), 'the end').then(() => undefined),
    stopReading: () => void response.pause(),
    resumeReading: () => void response.resume(),
    [Symbol.dispose]: () => sent.destroy(),
  }
  await reader.waitFor(1)
  return reader
}
