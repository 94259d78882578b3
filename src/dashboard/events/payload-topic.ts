import type { EventData } from '../../api/dashboard-event.ts'
import { readMessage } from '../../lib/message-shape.ts'
import { isFeedNote } from '../../supervisor/feed-events.ts'
import type { RawLogSource } from '../routes/dashboard-deps.ts'
import { cutPayload } from './cut-payload.ts'
import { Topic } from './topic.ts'

/** The gateway's feed of payloads, with one connection for all readers. Records that a reader misses are counted. */
export function payloadTopic(rawLog: RawLogSource): Topic {
  return new Topic('payloads', (send) => {
    /** The last event about the connection to the feed; null before the first one. */
    let connection: string | null = null
    const connect = (event: EventData['payloads']): void => {
      connection = JSON.stringify(event)
      send(connection)
    }
    const stop = rawLog.follow({
      onEvent: ({ id, data }) => {
        // Only records have an id. Records may be long, so they are not parsed.
        if (id !== undefined) {
          send(cutPayload(data), 1)
          return
        }
        const event = readMessage(data, isFeedNote)
        if (event?.type === 'connected') connect(event)
        else if (event !== null) send(data, event.type === 'dropped' ? event.count : 0)
      },
      onLost: () => connect({ type: 'disconnected' }),
    })
    return {
      current: (missed) => {
        const dropped: EventData['payloads'] = { type: 'dropped', count: missed }
        const texts = [connection, missed === 0 ? null : JSON.stringify(dropped)]
        return texts.filter((json) => json !== null)
      },
      stop,
    }
  })
}
