import type { RawLogStatus } from '../../api/raw-log.ts'

/** An event of the feed: a record, or the start of a call. Its bytes are shared: nobody may change them. */
export interface PayloadEvent {
  /** The record's; null of what is no record. */
  readonly seq: number | null
  /** One line of JSON in UTF-8, without its line break. */
  readonly json: Uint8Array
}

/** Hears what passes, whether the file gets it or not. */
export interface PayloadListener {
  events(events: readonly PayloadEvent[]): void
  /** So many records do not come, as there were too many; null where nobody counted them. */
  dropped(count: number | null): void
}

/** What can be asked of the log of payloads, and told to it. */
export interface RawLogService {
  /** What is known now; waits for nothing. */
  status(): RawLogStatus
  /** Has payloads kept in the file, for `forMs` or until further notice (null), or no longer. */
  toggle(enabled: boolean, forMs: number | null): void
  /** The newest records as the JSON of `RecentPayloads`. Rejects where the files cannot be read. */
  recent(limit: number): Promise<Uint8Array>
  /** Rejects where the files cannot be emptied. */
  clear(): Promise<void>
  /** Until it is disposed of. */
  watch(listener: PayloadListener): Disposable
}
