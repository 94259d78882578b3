import { closeSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { backoffMs } from '../../lib/backoff.ts'
import type { PriceProblem } from '../../api/costs.ts'
import type { Warning } from '../../call/call-sink.ts'
import type { Clock } from '../../call/clock.ts'
import { CallWriter, type RecordedListener } from './call-writer.ts'
import { HistoryWriter } from './history-writer.ts'
import { recoverCalls } from './recover-calls.ts'
import { withLockWait } from '../sqlite/lock-wait.ts'
import { startMending } from '../sqlite/mend-sums.ts'
import { haveDamage } from '../rollup/damaged-sums.ts'
import { sqliteCode, sqliteCodes } from '../sqlite/sqlite-code.ts'
import { placeInFile, placeShippedPrices, priceFileOf } from '../../pricing/price-file.ts'
import { PricesInForce } from '../../pricing/prices-in-force.ts'
import { waitingRows } from '../sqlite/older-proxy.ts'
import { hasOurHeader, openForWriting } from '../sqlite/open-store.ts'
import { updateSums } from '../rollup/update-sums.ts'
import { Dictionary } from './record-batch.ts'
import { RowObservers } from './row-observers.ts'
import { fileKey, keepLeftLog, setAside, setOrphanAside, walBytes } from '../sqlite/store-files.ts'
import { problemOf, StoreError, type StoreProblem } from '../sqlite/store-error.ts'
import type { FromWriter, ToWriter, WriterSettings } from './writer-messages.ts'
import { reportFault } from '../../lib/fault.ts'

const retry = { firstMs: 50, longestMs: 2000 } as const
/** Calls of dead gateways are recovered at the start, and after this number of checks. */
const checksPerRecovery = 12
/** Time (ms) between checks of the price file while no call ends. The file is also checked before calls are written. */
const pricesEveryMs = 2000
/** Milliseconds to wait for others' locks when the log is emptied. */
const emptyWalBusyMs = 50

interface OpenStore {
  readonly database: DatabaseSync
  /**
   * The open file, to check its first bytes. The file stays open as long as the connection: when a process
   * closes a file, all of its locks on that file are released, also SQLite's
   * (https://sqlite.org/howtocorrupt.html, 2.2).
   */
  readonly file: number
  readonly calls: CallWriter
  readonly history: HistoryWriter
  readonly stopSums: () => void
  readonly key: string | null
  readonly walKey: string | null
}

type Job = Exclude<ToWriter, { kind: 'ask' | 'close' }>

/**
 * The writer in its thread: opens the database and works through jobs in order. After an error it warns, keeps the job and
 * tries again. Memory is bounded by what the sender has outstanding.
 */
export class StoreWriter {
  readonly #settings: WriterSettings
  readonly #clock: Pick<Clock, 'after' | 'wallTime'>
  readonly #emit: (message: FromWriter) => void
  readonly #words = new Dictionary()
  readonly #jobs: Job[] = []
  /** Warnings by subject; warnings that stay until the next start, by code. */
  readonly #warnings = new Map<string, Warning>()
  readonly #prices: PricesInForce
  readonly #observers: RowObservers
  #store: OpenStore | null = null
  #failures = 0
  /** Functions that cancel the timers, by purpose. */
  readonly #timers = new Map<'retry' | 'check' | 'prices', () => void>()
  #checks = 0

  constructor(
    settings: WriterSettings,
    clock: Pick<Clock, 'after' | 'wallTime'>,
    emit: (message: FromWriter) => void,
  ) {
    this.#settings = settings
    this.#clock = clock
    this.#emit = emit
    this.#prices = new PricesInForce(priceFileOf(settings.path))
    this.#observers = new RowObservers((about, warning) => this.#warn(about, warning))
  }

  /** Loads the observers, opens the database, recovers the calls of dead gateways, and begins to check the file. */
  async start(): Promise<void> {
    await this.#observers.load(this.#settings.observers)
    this.#watchPrices()
    this.#run()
    this.#watch()
  }

  handle(message: ToWriter): void {
    if (message.kind === 'close') {
      this.#close().catch(reportFault)
      return
    }
    if (message.kind === 'ask') {
      this.#ask(message.question, message.observer, message.text).catch(reportFault)
      return
    }
    // Words are accepted once for each batch, not again when writing is retried.
    if (message.kind === 'write') this.#words.accept(message.calls)
    this.#jobs.push(message)
    if (!this.#timers.has('retry')) this.#run()
  }

  async #ask(question: number, observer: string, text: string): Promise<void> {
    this.#emit({ kind: 'answer', question, text: await this.#observers.answer(observer, text) })
  }

  /** The listener for rows written; null if there is none. */
  get #recorded(): RecordedListener | null {
    return this.#observers.isEmpty ? null : (calls) => this.#observers.recorded(calls)
  }

  #run(): void {
    try {
      const store = (this.#store ??= this.#open())
      for (let job = this.#jobs[0]; job !== undefined; job = this.#jobs[0]) {
        this.#perform(store, job)
        this.#jobs.shift()
      }
      this.#failures = 0
      this.#warn('problem', null)
    } catch (error) {
      this.#fail(error)
    }
  }

  #open(): OpenStore {
    const { path } = this.#settings
    this.#remember('log_kept', keepLeftLog(path, this.#clock.wallTime()))
    const database = openForWriting(path)
    let file: number | null = null
    try {
      file = openSync(path, 'r')
      placeShippedPrices(priceFileOf(path))
      const history = new HistoryWriter(database, this.#settings)
      const calls = new CallWriter(database, this.#words, this.#prices, this.#recorded)
      this.#recoverCalls(database)
      this.#warnOfOlderProxy(database)
      this.#emit({ kind: 'opened' })
      const stopSums = updateSums(
        database,
        this.#clock,
        (warning) => this.#warn('rollups', warning),
        () => startMending(path),
      )
      return { database, file, calls, history, stopSums, key: fileKey(path), walKey: fileKey(`${path}-wal`) }
    } catch (error) {
      database.close()
      if (file !== null) closeSync(file)
      throw error
    }
  }

  #recoverCalls(database: DatabaseSync): void {
    const folder = dirname(this.#settings.path)
    this.#noteConflicts(recoverCalls(database, folder, this.#settings, this.#recorded))
  }

  #noteConflicts(count: number): void {
    if (count === 0) return
    const message = `${this.#settings.path}: calls were not recorded because another gateway has recorded calls under the same ids; they count as dropped. Let all gateways on this database run this version, with its folder writable`
    this.#remember('id_conflict', message)
  }

  /** Sets a warning that stays until the next start; `null` removes it. */
  #remember(code: string, message: string | null): void {
    if (message !== null && !this.#warnings.has(code)) this.#warn(code, { code, message })
  }

  #warn(about: string, warning: Warning | null): void {
    if (this.#warnings.get(about)?.message === warning?.message) return
    if (warning === null) this.#warnings.delete(about)
    else this.#warnings.set(about, warning)
    this.#emit({ kind: 'warnings', warnings: [...this.#warnings.values()] })
  }

  #perform(store: OpenStore, job: Job): void {
    if (job.kind === 'usage') {
      this.#emit({ kind: 'usage', question: job.question, usage: store.history.usage(job.about) })
      return
    }
    this.#reloadPrices()
    const { dropped, conflicts } = store.calls.write(job.calls)
    this.#noteConflicts(conflicts)
    store.history.write(job.minutes, job.events, job.opened)
    // Rows in a replaced file are lost: the job is written again to the new file.
    this.#assertInPlace(store)
    this.#emit({ kind: 'written', dropped })
  }

  #assertInPlace(store: OpenStore): void {
    if (fileKey(this.#settings.path) !== store.key)
      throw new StoreError('moved', 'the database was deleted or replaced')
  }

  #fail(error: unknown): void {
    const { path } = this.#settings
    if (this.#haveSumsDamage(error)) {
      startMending(path)
      const message = `${path}: a page of sums is damaged; the sums are computed again, and calls wait until then`
      this.#warn('problem', { code: 'rollups_behind', message })
      this.#retryLater()
      return
    }
    const problem = problemOf(error, path)
    const { remedy, warning } = problem
    if (remedy === 'skip') this.#skip()
    else if (remedy !== 'wait') {
      const walKey = this.#store?.walKey ?? null
      try {
        if (remedy === 'save_log' && this.#store !== null) emptyWal(this.#store.database)
      } catch {
        // Closing tries it once more.
      }
      this.#release()
      try {
        if (remedy === 'set_aside') setAside(path, this.#clock.wallTime())
        else if (warning.code === 'database_moved') setOrphanAside(path, walKey, this.#clock.wallTime())
      } catch (aside) {
        this.#warnOf(problemOf(aside, path))
        this.#retryLater()
        return
      }
    }
    this.#warnOf(problem)
    this.#retryLater()
  }

  /** True if only sums are damaged: the file is not set aside, as sums can be computed again. */
  #haveSumsDamage(error: unknown): boolean {
    return (
      sqliteCode(error) === sqliteCodes.corrupt && this.#store !== null && haveDamage(this.#store.database)
    )
  }

  #retryLater(): void {
    const delayMs = backoffMs(retry, ++this.#failures)
    this.#after('retry', delayMs, () => this.#run())
  }

  /** Sets a timer, and cancels an earlier one for the same purpose. */
  #after(what: 'retry' | 'check' | 'prices', ms: number, work: () => void): void {
    this.#timers.get(what)?.()
    const run = (): void => {
      this.#timers.delete(what)
      work()
    }
    this.#timers.set(what, this.#clock.after(ms, run))
  }

  /** Drops the current job. */
  #skip(): void {
    const job = this.#jobs.shift()
    if (job === undefined) return
    if (job.kind === 'usage') this.#emit({ kind: 'usage', question: job.question, usage: null })
    else this.#emit({ kind: 'written', dropped: job.calls.count })
  }

  #warnOf({ warning, isPermanent }: StoreProblem): void {
    this.#warn(isPermanent ? warning.code : 'problem', warning)
    if (isPermanent) this.#warn('problem', null)
  }

  #watchPrices(): void {
    this.#reloadPrices()
    this.#after('prices', pricesEveryMs, () => this.#watchPrices())
  }

  /** A broken price file leaves the earlier prices in force, and calls are written as before. */
  #reloadPrices(): void {
    if (!this.#prices.reloadIfChanged()) return
    const { problem } = this.#prices
    this.#warn('prices', problem === null ? null : priceWarning(priceFileOf(this.#settings.path), problem))
  }

  #watch(): void {
    this.#after('check', this.#settings.checkEveryMs, () => {
      this.#check()
      this.#watch()
    })
  }

  #check(): void {
    if (this.#store === null) return
    try {
      this.#assertInPlace(this.#store)
      // Writes to a log that no other process finds are lost with this one.
      if (fileKey(`${this.#settings.path}-wal`) !== this.#store.walKey)
        throw new StoreError('log_moved', 'the log was deleted or replaced')
      if (!hasOurHeader(this.#store.file)) throw new StoreError('damaged', 'its header was overwritten')
      this.#boundWal(this.#store.database)
      this.#warnOfOlderProxy(this.#store.database)
      if (++this.#checks % checksPerRecovery === 0) this.#recoverCalls(this.#store.database)
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Warns until the calls of the older proxy are imported; the text says how. */
  #warnOfOlderProxy(database: DatabaseSync): void {
    const { path, olderProxy } = this.#settings
    if (olderProxy === null) return
    const waiting = waitingRows(database, olderProxy)
    const message = `${olderProxy} is the database of the older Python proxy, with ${waiting} rows of calls that were not imported: it is left as it is, and new calls are recorded in ${path}. To bring its calls and prices over: tokenweir db import ${olderProxy}`
    this.#warn('older_proxy', waiting === 0 ? null : { code: 'older_proxy', message })
  }

  /** Empties a large log. A reader that stays in one snapshot delays that until it ends. */
  #boundWal(database: DatabaseSync): void {
    const { path, walLimits } = this.#settings
    if (walBytes(path) > walLimits.emptyBytes) emptyWal(database)
    const bytes = walBytes(path)
    const message = `${path}-wal holds ${Math.round(bytes / 2 ** 20)} MiB: a reader has kept it from being emptied. End programs that read the database for long`
    this.#warn('wal', bytes > walLimits.warnBytes ? { code: 'wal_large', message } : null)
  }

  #release(): void {
    const store = this.#store
    this.#store = null
    store?.stopSums()
    try {
      store?.database.close()
      if (store !== null) closeSync(store.file)
    } catch {
      // A database that cannot be closed is abandoned: the next opening shows its state.
    }
  }

  async #close(): Promise<void> {
    for (const cancel of this.#timers.values()) cancel()
    try {
      if (this.#store !== null) emptyWal(this.#store.database)
    } catch {
      // SQLite empties the log at the next opening.
    }
    this.#release()
    await this.#observers.close()
    this.#emit({ kind: 'closed' })
  }
}

function priceWarning(path: string, problem: PriceProblem): Warning {
  return {
    code: 'prices_unreadable',
    message: `${path}${placeInFile(problem)}: ${problem.message} The prices from before stay in force`,
  }
}

function emptyWal(database: DatabaseSync): void {
  withLockWait(database, emptyWalBusyMs, () => database.exec('PRAGMA wal_checkpoint(TRUNCATE)'))
}
