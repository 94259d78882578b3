import type {
  ClientUsageQuestion,
  GatewayEvent,
  GatewayMinute,
  MinuteUsage,
  Warning,
} from '../../call/call-sink.ts'
import type { ObserverModule } from '../../call/row-observer.ts'
import type { OpenRows } from './open-calls.ts'
import type { CallBatch } from './record-batch.ts'

/** The start message of the writer's thread. */
export interface WriterSettings extends WatchSettings {
  readonly path: string
  /** The older proxy's database in the same folder; null if there is none. */
  readonly olderProxy: string | null
  readonly instance: string
  /** The instance number; null without one. */
  readonly number: number | null
  readonly version: string
  /** The modules that observe each recorded row. */
  readonly observers: readonly ObserverModule[]
}

/** When the writer checks its file. */
export interface WatchSettings {
  /** Milliseconds between checks of the file's identity and the size of its `-wal`. */
  readonly checkEveryMs: number
  /** Sizes of the write-ahead log, in bytes. */
  readonly walLimits: {
    /** A log of more bytes is emptied as soon as no reader needs it. */
    readonly emptyBytes: number
    /** For a log of more bytes, a warning says that a reader prevents its emptying. */
    readonly warnBytes: number
  }
}

/** Tokens from a minute on: of all calls, of those that began before an instant, or of some clients, keys and upstreams. */
export type UsageQuestion =
  | { readonly fromMinute: number; readonly sinceMs: number | undefined }
  | ClientUsageQuestion
  | { readonly sentSinceMs: number }

/** Messages to the writer's thread. At most one `write` is unanswered at a time; each is answered by a `written`. */
export type ToWriter =
  | {
      readonly kind: 'write'
      readonly calls: CallBatch
      readonly minutes: readonly GatewayMinute[]
      readonly events: readonly GatewayEvent[]
      readonly opened: OpenRows
    }
  | { readonly kind: 'usage'; readonly question: number; readonly about: UsageQuestion }
  /** A question to an observer, by name. */
  | { readonly kind: 'ask'; readonly question: number; readonly observer: string; readonly text: string }
  | { readonly kind: 'close' }

/** Messages from the writer's thread. */
export type FromWriter =
  /** The database was opened; it may differ from the one before. */
  | { readonly kind: 'opened' }
  | { readonly kind: 'written'; readonly dropped: number }
  /** `null`: the database could not be read; ask again. */
  | { readonly kind: 'usage'; readonly question: number; readonly usage: readonly MinuteUsage[] | null }
  /** `null`: there is no such observer, or it has failed. */
  | { readonly kind: 'answer'; readonly question: number; readonly text: string | null }
  | { readonly kind: 'warnings'; readonly warnings: readonly Warning[] }
  | { readonly kind: 'closed' }
