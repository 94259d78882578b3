import type { RawLogStatus } from '../../api/raw-log.ts'
import type { PayloadListener } from '../../call/payload-log.ts'

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
