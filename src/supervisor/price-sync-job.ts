import type { PriceSync, SyncResult } from '../api/costs.ts'
import type { Clock } from '../call/clock.ts'
import { isAmount, isFlag, record } from '../lib/message-shape.ts'
import { type JobCommand, type JobError, type RunningJob, runJob } from './run-job.ts'

/** Brings prices up to date. */
export type PriceSyncer = Pick<PriceSyncJob, 'state' | 'start'>

/** The command is `… costs`. */
export interface PriceSyncJobOptions extends JobCommand {
  readonly db: string
  /** A URL or a path. */
  readonly source: string
  readonly clock: Pick<Clock, 'wallTime'>
}

/** Syncs prices in a process of its own: a list of some megabytes would hold the dashboard up. */
export class PriceSyncJob {
  /** How it stands, if that is not what the price file says itself; else null. */
  state: PriceSync | null = null
  readonly #options: PriceSyncJobOptions
  #running: RunningJob<SyncResult> | null = null

  constructor(options: PriceSyncJobOptions) {
    this.#options = options
  }

  /** False if one is under way. */
  start(): boolean {
    if (this.#running !== null) return false
    const { db, source } = this.#options
    const begun = { started_at: this.#now(), added: 0, changed: 0, removed: 0 }
    this.state = { ...begun, state: 'running', finished_at: null, last_error: null }
    const args = ['sync', '--json', `--pricing-source=${source}`, `--db=${db}`]
    this.#running = runJob(this.#options, args, { name: 'The sync', result: isSyncResult })
    const end = (state: PriceSync | null): void => {
      this.#running = null
      this.state = state
    }
    this.#running.result.then(
      // What went well stands in the file.
      () => end(null),
      ({ message }: JobError) =>
        end({ ...begun, state: 'idle', finished_at: this.#now(), last_error: message }),
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

const isSyncResult = record<SyncResult>({
  added: isAmount,
  changed: isAmount,
  removed: isAmount,
  entries: isAmount,
  rejected: isAmount,
  not_modified: isFlag,
})
