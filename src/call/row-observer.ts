import type { StoredCall } from './call-record.ts'
import type { Warning } from './call-sink.ts'

/**
 * Observes new rows in the writer's thread. An observer that throws is detached with a warning; the writer
 * continues. An observer's timers and sockets must not throw, as that would end the thread.
 */
export interface RowObserver {
  /** Called with new rows and their costs. The next rows wait until it returns. */
  recorded(calls: readonly StoredCall[]): void
  /** Answers a question of the gateway's thread. */
  answer?(question: string): string | Promise<string>
  /** Called after the last row, when the database is closed. The gateway's stop waits for it for a few seconds. */
  close?(): void | Promise<void>
}

/** Shows a warning in `/health`, or removes it with `null`. `about` is its subject, one warning each. */
export type Warn = (about: string, warning: Warning | null) => void

/** The export `observeRows` of an observer's module. */
export type ObserveRows<Settings> = (settings: Settings, warn: Warn) => RowObserver

/** The module of an observer, which the writer's thread loads. */
export interface ObserverModule {
  /** The observer's name, for questions and warnings. */
  readonly name: string
  /** The file URL of a module that exports {@link ObserveRows} as `observeRows`. */
  readonly url: string
  /** The argument of `observeRows`; a value that can be posted to a thread. */
  readonly settings: unknown
}
