import type { RawLogEvent } from '../../api/raw-log.ts'
import { sseComment, sseEvent } from '../../lib/sse-frame.ts'
import type { FeedFrame } from './feed-memory.ts'
import type { PayloadEvent } from './raw-log-service.ts'

const dataField = Buffer.from('data: ')
const eventEnd = Buffer.from('\n\n')

/** An event of the log on the wire: unnamed, and with its seq for an id where it is a record. */
export function frameOf({ seq, json }: PayloadEvent): FeedFrame {
  const start = seq === null ? dataField : Buffer.from(`id: ${seq}\ndata: `)
  return { seq, bytes: Buffer.concat([start, json, eventEnd]) }
}

/** An event of the feed's own. */
export function ownFrame(event: Extract<RawLogEvent, { readonly type: string }>): FeedFrame {
  return { seq: null, bytes: Buffer.from(sseEvent(null, JSON.stringify(event))) }
}

/** Keeps a connection in use on which nothing else comes. */
export const beatBytes: Uint8Array = Buffer.from(sseComment)
