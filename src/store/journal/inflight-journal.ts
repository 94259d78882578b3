import { closeSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Warning } from '../../call/call-sink.ts'
import type { CallStart } from '../../call/call.ts'
import type { Clock } from '../../call/clock.ts'
import { headerLine, startLine } from './journal-line.ts'
import { messageOf } from '../../lib/errors.ts'
import { type Placed, SwapList } from '../../lib/swap-list.ts'
import { ownIdentity } from '../../lib/process-identity.ts'
import { fileKey } from '../sqlite/store-files.ts'

export interface InflightJournalOptions {
  readonly folder: string
  readonly instance: string
  /** The instance's own, if it has one. */
  readonly number: number | null
  readonly clock: Pick<Clock, 'now' | 'wallTime'>
  /** The lines of calls that have ended and are no rows yet. */
  readonly waiting: () => readonly string[]
  /** The file is rewritten beyond this size, if over half of its lines matter no more. */
  readonly rewriteBytes?: number
  /** Calls that have begun and not ended; beyond it calls begin without a line. */
  readonly callLimit?: number
}

/** While the file cannot be written, and to see whether it is still there. */
const lookAgainMs = 1000

/**
 * The calls that went to the upstream and are not yet rows, on disk before their first byte is sent; and those that
 * have ended, where the database takes its time. A process that is killed leaves them for `recoverJournals`; against power loss nothing is promised, so nothing is synced.
 */
export class InflightJournal {
  readonly #options: Required<InflightJournalOptions>
  readonly #path: string
  readonly #header: string
  /** Calls that have begun and not ended. Their lines are made again where they are needed again. */
  readonly #open = new SwapList<CallStart & Partial<Placed>>()
  /** Lines that wait for the end of this turn, and what resolves then. */
  #unwritten = ''
  #writing: Promise<void> | null = null
  #file: number | null = null
  #key: string | null = null
  #fileBytes = 0
  #fileLines = 0
  /** What the file held when it was last rewritten. */
  #keptBytes = 0
  #lookAtMs = 0
  #warning: Warning | null = null
  #closed = false

  constructor(options: InflightJournalOptions) {
    this.#options = { rewriteBytes: 2 ** 20, callLimit: 50_000, ...options }
    const name = options.instance.replaceAll(/[^\w-]/g, '_')
    this.#path = join(options.folder, `inflight-${name}.log`)
    this.#header = headerLine({ instance: options.instance, number: options.number, ...ownIdentity() })
    this.#attempt(() => {
      mkdirSync(options.folder, { recursive: true, mode: 0o700 })
      this.#keepFormer(options.folder, name)
      this.#rewrite()
    })
  }

  /** Of the last try; `null` while all is well. */
  get warning(): Warning | null {
    return this.#warning
  }

  /**
   * Resolves when the call is on disk, or cannot be brought there, which is a warning. Calls that begin in one
   * turn of the event loop share one write: a system call costs more than all else that is done here.
   */
  begin(call: CallStart & Partial<Placed>): Promise<void> {
    if (this.#closed) return Promise.resolve()
    if (this.#open.size >= this.#options.callLimit) {
      this.#warn('journal_full', 'more calls are unfinished than the journal holds')
      return Promise.resolve()
    }
    this.#open.add(call)
    this.#unwritten += startLine(call)
    this.#fileLines++
    this.#writing ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#write()
        resolve()
      })
    })
    return this.#writing
  }

  /** This call has ended: it waits to become a row, or is given up. */
  over(call: CallStart & Partial<Placed>): void {
    this.#open.remove(call)
    if (this.#warning?.code === 'journal_full') this.#warning = null
  }

  /** Calls that wait take their time: notes how they ended, on disk when this returns. Says if they could be. */
  noteEnded(lines: readonly string[]): boolean {
    this.#unwritten += lines.join('')
    this.#fileLines += lines.length
    this.#write()
    // No row may be written for hours.
    this.#shrink()
    return this.#file !== null
  }

  /** Rows were written: the file is looked after. */
  tidy(): void {
    this.#heal()
    this.#shrink()
  }

  #shrink(): void {
    const isLarge = this.#fileBytes > Math.max(this.#options.rewriteBytes, this.#keptBytes * 2)
    if (this.#file === null || !isLarge || this.#fileLines < 2 * this.#open.size) return
    this.#attempt(() => this.#rewrite())
  }

  /** Removes the file, unless it still holds a call: that one is then found at the next start. */
  close(): void {
    this.#write()
    this.#closed = true
    const file = this.#file
    this.#file = null
    this.#attempt(() => {
      if (file !== null) closeSync(file)
      const isEmpty = this.#open.size === 0 && this.#options.waiting().length === 0
      if (isEmpty && fileKey(this.#path) === this.#key) rmSync(this.#path, { force: true })
    })
  }

  #write(): void {
    const text = this.#unwritten
    const file = this.#file
    this.#unwritten = ''
    this.#writing = null
    if (text === '') return
    if (file === null) this.#heal()
    else this.#attempt(() => this.#append(file, text))
  }

  #append(file: number, text: string): void {
    const bytes = writeSync(file, text)
    this.#fileBytes += bytes
    if (bytes < Buffer.byteLength(text)) {
      throw new Error('only a part of what began could be written')
    }
  }

  /** A new file with the calls that still matter takes the place of the old in one step. */
  #rewrite(): void {
    const temporary = `${this.#path}.tmp`
    rmSync(temporary, { force: true })
    const file = openSync(temporary, 'ax', 0o600)
    try {
      const lines = [...this.#options.waiting(), ...[...this.#open].map(startLine)]
      const text = this.#header + lines.join('')
      this.#fileLines = lines.length
      this.#fileBytes = writeSync(file, text)
      if (this.#fileBytes < Buffer.byteLength(text)) throw new Error('the journal could not be rewritten')
      renameSync(temporary, this.#path)
    } catch (error) {
      closeSync(file)
      rmSync(temporary, { force: true })
      throw error
    }
    if (this.#file !== null) closeSync(this.#file)
    this.#file = file
    this.#key = fileKey(this.#path)
    this.#keptBytes = this.#fileBytes
    this.#unwritten = ''
    this.#lookAtMs = this.#options.clock.now() + lookAgainMs
    this.#warning = null
  }

  /** Makes the file anew where it could not be written or is no longer there. */
  #heal(): void {
    if (this.#closed || this.#options.clock.now() < this.#lookAtMs) return
    this.#lookAtMs = this.#options.clock.now() + lookAgainMs
    this.#attempt(() => {
      if (this.#file !== null && fileKey(this.#path) === this.#key) return
      mkdirSync(this.#options.folder, { recursive: true, mode: 0o700 })
      this.#rewrite()
    })
  }

  /** A file of our name is of an earlier life of this instance: it keeps its calls under another name. */
  #keepFormer(folder: string, name: string): void {
    if (fileKey(this.#path) === null) return
    renameSync(this.#path, join(folder, `inflight-${name}-${this.#options.clock.wallTime()}.log`))
  }

  #attempt(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#letGo()
      this.#warn('journal_unavailable', `${this.#path}: ${messageOf(error)}`)
    }
  }

  #letGo(): void {
    try {
      if (this.#file !== null) closeSync(this.#file)
    } catch {
      // It could not be written before either; the warning says so.
    }
    this.#file = null
  }

  #warn(code: string, reason: string): void {
    if (this.#warning?.code === code) return
    const message = `${reason}; a crash now would leave calls without a trace`
    this.#warning = { code, message }
  }
}
