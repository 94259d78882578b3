import type { ServerResponse } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { EventData } from '../../api/dashboard-event.ts'
import type { Clock } from '../../call/clock.ts'
import { sseComment, sseEvent, sseRetry } from '../../lib/http/http.ts'
import { someOf } from '../../options/value-kind.ts'
import type { Topic } from '../events/topic.ts'
import { RequestError } from '../http/request-error.ts'
import { type RouteTable, expectOwnConnection, route } from '../http/app.ts'

/** Most open event streams. */
const maxReaders = 64
/** A reader's wait before it connects again. */
const retryMs = 2000
/** Most bytes that wait in memory for a reader. Further events are dropped; a single event may be larger. */
const maxBacklogBytes = 256 * 1024
/** Interval of beats: proxies close connections that are silent for a minute, some after 30 s. */
const beatMs = 15_000
/** A reader without room for this many beats in a row is disconnected. */
const maxMissedBeats = 4

const eventStream = { 'Content-Type': 'text/event-stream; charset=utf-8' }

/** The event that shows a page that the stream is alive. A page would not see a comment. */
const beat: EventData['beat'] = { every_ms: beatMs }

/** The route of the event stream. Each reader gets its topics on one stream. */
export interface EventRoutes {
  readonly routes: RouteTable
  /** Ends the streams of all readers. */
  close(): void
}

/** Makes `/api/events?topics=…`. A reader that does not read costs bounded memory. */
export function eventRoutes(topics: readonly Topic[], clock: Clock): EventRoutes {
  const readers = new Set<ServerResponse>()

  /** Takes over an answer that has not begun, until the reader leaves. */
  const open = (response: ServerResponse, names: readonly string[]): void => {
    // The connection ends with the stream.
    response.shouldKeepAlive = false
    response.writeHead(200, {
      ...eventStream,
      'Cache-Control': 'no-store',
      // nginx and similar proxies would otherwise buffer the stream.
      'X-Accel-Buffering': 'no',
    })
    response.write(sseRetry(retryMs))
    readers.add(response)
    const stopBeats = keepBeating(response, clock, names.includes('beat'))
    const unsubscribes = topics
      .filter(({ name }) => names.includes(name))
      .map((topic) =>
        topic.subscribe({
          send: (json) => send(response, topic.name, json),
          whenRoom: (callback) => response.once('drain', callback),
        }),
      )
    response.once('close', () => {
      stopBeats()
      for (const unsubscribe of unsubscribes) unsubscribe()
      readers.delete(response)
    })
  }

  const events = route(
    {
      answer: { '200 text/event-stream': 'EventData' },
      query: { topics: someOf([...topics.map(({ name }) => name), 'beat']) },
    },
    (c, { query }) => {
      const response = c.env.outgoing
      if (readers.size >= maxReaders) {
        throw new RequestError('too_many_readers', 'Too many pages are open; close some.')
      }
      expectOwnConnection(response)
      if (c.req.method === 'HEAD') return c.body(null, 200, eventStream)
      open(response, query.topics)
      return RESPONSE_ALREADY_SENT
    },
  )
  return {
    routes: {
      /** Server-sent events of the requested topics. An event's name is its topic, its data one member of `x-event-data`. @fails too_many_readers pipelined_stream */
      'GET /api/events': events,
    },
    close: () => {
      for (const response of readers) response.end()
    },
  }
}

/** Sends beats, and closes the connection when the reader no longer reads. Returns a function that ends this. */
function keepBeating(response: ServerResponse, clock: Clock, sendsBeats: boolean): () => void {
  let missed = 0
  const sendBeat = (): void => {
    if (sendsBeats) send(response, 'beat', JSON.stringify(beat))
  }
  const next = (): (() => void) => clock.after(beatMs, onBeat, { background: true })
  const onBeat = (): void => {
    cancel = next()
    if (hasRoom(response)) {
      response.write(sseComment)
      missed = 0
    } else {
      missed += 1
      if (missed >= maxMissedBeats) response.destroy()
    }
    sendBeat()
  }
  let cancel = next()
  sendBeat()
  return () => cancel()
}

/** Sends an event. Returns false, without sending, if the reader is gone or too far behind. */
function send(response: ServerResponse, name: string, json: string): boolean {
  if (!hasRoom(response)) return false
  response.write(sseEvent(name, json))
  return true
}

function hasRoom({ writableEnded, writableLength }: ServerResponse): boolean {
  return !writableEnded && writableLength <= maxBacklogBytes
}
