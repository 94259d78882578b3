import type { StoredCall } from './call-record.ts'
import type { Warning } from './call-sink.ts'

/**
 * Looks on, in the writer's thread, as calls become rows. One that throws is detached, which is a warning; the writer
 * goes on. What it does later by itself (timers, sockets) must not throw: that would end the thread.
 */
export interface RowObserver {
  /** Calls that have just become rows, with what they cost. The next ones wait meanwhile. */
  recorded(calls: readonly StoredCall[]): void
  /** An answer to the gateway's own thread. */
  answer?(question: string): string | Promise<string>
  /** After the last row, when the database is closed; the gateway's stop waits for it, for a few seconds. */
  close?(): void | Promise<void>
}

/** Shows what a person should know of in `/health`, or with `null` takes it back; by what it is about. */
export type Warn = (about: string, warning: Warning | null) => void

/** The export `observeRows` of an observer's module. */
export type ObserveRows<Settings> = (settings: Settings, warn: Warn) => RowObserver

/** An observer that the writer's thread is to load. */
export interface ObserverModule {
  /** By which it is asked, and named in warnings. */
  readonly name: string
  /** The file URL of a module that exports {@link ObserveRows} as `observeRows`. */
  readonly url: string
  /** The values that can be posted to a thread. */
  readonly settings: unknown
}
