import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { Condition } from '../support/condition.ts'

/** One event as it came. */
export interface SeenEvent {
  readonly name: string
  readonly data: unknown
}

/** A reader of `/api/events` on a connection of its own. */
export interface EventReader extends Disposable {
  readonly response: IncomingMessage
  /** What came besides events: the first lines and the comments. */
  readonly rest: string
  readonly events: readonly SeenEvent[]
  /** Waits for the first answer that is not `undefined`. */
  until<T>(probe: () => T | undefined, what: string): Promise<T>
  /** Waits until there are so many events. */
  waitFor(count: number): Promise<readonly SeenEvent[]>
  /** `true` where the stream ended in order, `false` where it broke. */
  waitForEnd(): Promise<boolean>
  stopReading(): void
  resumeReading(): void
}

/** `using reader = await openEvents(port, 'gateway,log')`; the stream has begun when this resolves. */
export async function openEvents(port: number, topics: string): Promise<EventReader> {
  const sent = request({ port, host: '127.0.0.1', path: `/api/events?topics=${topics}`, agent: false }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const condition = new Condition()
  const events: SeenEvent[] = []
  let rest = ''
  let pending = ''
  let ended: boolean | undefined
  response.setEncoding('utf8').on('data', (text: string) => {
    const blocks = (pending + text).split('\n\n')
    pending = blocks.pop() ?? ''
    for (const block of blocks) {
      const [, name, data] = /^event: ([^\n]*)\ndata: ([^\n]*)$/.exec(block) ?? []
      if (name !== undefined && data !== undefined) events.push({ name, data: JSON.parse(data) })
      else rest += `${block}\n\n`
    }
    condition.changed()
  })
  // A break is told by `close` alone.
  response.on('error', () => undefined)
  response.on('close', () => {
    ended = response.complete
    condition.changed()
  })
  const reader: EventReader = {
    response,
    get rest() {
      return rest
    },
    events,
    until: (probe, what) => condition.until(probe, what),
    waitFor: (count) =>
      condition.until(() => (events.length >= count ? events : undefined), `${count} events`),
    waitForEnd: () => condition.until(() => ended, 'the end of the stream'),
    stopReading: () => {
      response.pause()
    },
    resumeReading: () => {
      response.resume()
    },
    [Symbol.dispose]: () => sent.destroy(),
  }
  await reader.until(() => (rest === '' ? undefined : true), 'the stream to begin')
  return reader
}

/** Calls are told from the dashboard's first look on: records some until it tells of one, to a reader of `calls`. */
export async function untilCallsAreTold(reader: EventReader, record: () => unknown): Promise<void> {
  while (reader.events.length === 0) {
    await record()
    await delay(200)
  }
}
