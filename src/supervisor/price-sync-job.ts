import type { PriceSync, SyncResult } from '../api/costs.ts'
import type { Clock } from '../call/clock.ts'
import { failureIn, isSyncResult } from './job-lines.ts'
import { JobProcess } from './job-process.ts'

/** Brings prices up to date. */
export interface PriceSyncer {
  /** How it stands, where that is not what the price file says itself; else null. */
  readonly state: PriceSync | null
  /** False where one is under way. */
  start(): boolean
}

export interface PriceSyncJobOptions {
  /** The program and its first arguments: `… costs`. */
  readonly command: readonly string[]
  readonly db: string
  /** A URL or a path. */
  readonly source: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Pick<Clock, 'wallTime'>
}

/** Syncs prices in a process of its own: a list of some megabytes would hold the dashboard up. */
export class PriceSyncJob implements PriceSyncer {
  readonly #options: PriceSyncJobOptions
  #state: PriceSync | null = null
  #running: JobProcess | null = null

  constructor(options: PriceSyncJobOptions) {
    this.#options = options
  }

  get state(): PriceSync | null {
    return this.#state
  }

  start(): boolean {
    if (this.#running !== null) return false
    const { db, source } = this.#options
    const startedAt = this.#now()
    const state: PriceSync = {
      state: 'running',
      started_at: startedAt,
      finished_at: null,
      last_error: null,
      added: 0,
      changed: 0,
      removed: 0,
    }
    this.#state = state
    let result: SyncResult | null = null
    let error: string | null = null
    this.#running = new JobProcess(
      this.#options,
      ['sync', '--json', `--pricing-source=${source}`, `--db=${db}`],
      {
        said: (said) => {
          if (isSyncResult(said['result'])) result = said['result']
          else error ??= failureIn(said['error'])?.message ?? null
        },
        ended: (how, words) => {
          this.#running = null
          const lastError = error ?? (words || `The sync ${how}.`)
          // What went well stands in the file.
          this.#state =
            result === null
              ? { ...state, state: 'idle', finished_at: this.#now(), last_error: lastError }
              : null
        },
      },
    )
    return true
  }

  /** Lets go of the one under way, which goes on alone. */
  close(): void {
    this.#running?.leave()
  }

  #now(): string {
    return new Date(this.#options.clock.wallTime()).toISOString()
  }
}
