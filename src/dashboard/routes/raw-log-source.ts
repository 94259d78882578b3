import type { Readable } from 'node:stream'
import type { RawLogStatus } from '../../api/raw-log.ts'
import type { FeedListener } from '../../supervisor/raw-log-relay.ts'

/** The log of payloads, as the dashboard asks for it; all may reject with `RawLogError` or `GatewayRefusedError`. */
export interface RawLogSource {
  status(): Promise<RawLogStatus>
  /** Tells if payloads are kept now (null if no gateway says so), and the path of the active file. Never rejects. */
  known(): Promise<{ readonly logging: boolean | null; readonly filePath: string }>
  toggle(order: object): Promise<object>
  clear(): Promise<object>
  /** The JSON of `RecentPayloads`; null if no gateway runs. */
  recent(limit: number): Promise<Readable | null>
  /** The feed, behind the event with this id. */
  stream(lastEventId: string | null): Promise<Readable>
  /** Tells of the feed's events, until the function that it answers is called. */
  follow(listener: FeedListener): () => void
}
