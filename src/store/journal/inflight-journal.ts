import { closeSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { CallRecord } from '../../call/call-record.ts'
import type { Warning } from '../../call/call-sink.ts'
import type { CallStart } from '../../call/call.ts'
import type { Clock } from '../../call/clock.ts'
import { endLine, headerLine, isEndLine, startLine } from './journal-line.ts'
import { messageOf } from '../../lib/errors.ts'
import { ownIdentity } from '../../lib/process-identity.ts'
import { fileKey } from '../sqlite/store-files.ts'

export interface InflightJournalOptions {
  readonly folder: string
  readonly instance: string
  /** The instance's own, if it has one. */
  readonly number: number | null
  readonly clock: Pick<Clock, 'now' | 'wallTime'>
  /** The file is rewritten beyond this size, or beyond twice what it must hold, whichever is more. */
  readonly rewriteBytes?: number
  /** Calls that are begun and not yet written; beyond it calls begin without a line. */
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
  readonly #lines = new Map<number, string>()
  #lineBytes = 0
  /** Lines that wait for the end of this turn, and what resolves then. */
  #unwritten = ''
  #writing: Promise<void> | null = null
  #file: number | null = null
  #key: string | null = null
  #fileBytes = 0
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
  begin(start: CallStart): Promise<void> {
    if (this.#closed) return Promise.resolve()
    if (this.#lines.size >= this.#options.callLimit) {
      this.#warn('journal_full', 'more calls are unfinished than the journal holds')
      return Promise.resolve()
    }
    this.#add(start.id, startLine(start))
    this.#writing ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#write()
        resolve()
      })
    })
    return this.#writing
  }

  /** These calls have ended and wait for the database; they are on disk when this returns, but for so many as cannot be. */
  ended(calls: readonly CallRecord[]): number {
    if (this.#closed || calls.length === 0) return calls.length
    let lost = 0
    for (const call of calls) {
      const known = this.#lines.get(call.id)
      const isFull = known === undefined && this.#lines.size >= this.#options.callLimit
      if (isFull) lost++
      else if (known === undefined || !isEndLine(known)) this.#add(call.id, endLine(call))
    }
    this.#write()
    return this.#file === null ? calls.length : lost
  }

  /** These calls stand in the database, or were counted as dropped. */
  settle(ids: Iterable<number>): void {
    for (const id of ids) {
      const line = this.#lines.get(id)
      if (line === undefined) continue
      this.#lines.delete(id)
      this.#lineBytes -= line.length
    }
    if (this.#warning?.code === 'journal_full') this.#warning = null
    this.#heal()
    if (this.#file === null) return
    if (this.#fileBytes > Math.max(this.#options.rewriteBytes, this.#lineBytes * 2)) {
      this.#attempt(() => this.#rewrite())
    }
  }

  /** Removes the file, unless it still holds a call: that one is then found at the next start. */
  close(): void {
    this.#write()
    this.#closed = true
    const file = this.#file
    this.#file = null
    this.#attempt(() => {
      if (file !== null) closeSync(file)
      if (this.#lines.size === 0 && fileKey(this.#path) === this.#key) rmSync(this.#path, { force: true })
    })
  }

  #add(id: number, line: string): void {
    this.#lineBytes += line.length - (this.#lines.get(id)?.length ?? 0)
    this.#lines.set(id, line)
    this.#unwritten += line
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
      const text = this.#header + [...this.#lines.values()].join('')
      if (writeSync(file, text) < Buffer.byteLength(text))
        throw new Error('the journal could not be rewritten')
      renameSync(temporary, this.#path)
    } catch (error) {
      closeSync(file)
      rmSync(temporary, { force: true })
      throw error
    }
    if (this.#file !== null) closeSync(this.#file)
    this.#file = file
    this.#key = fileKey(this.#path)
    this.#fileBytes = this.#header.length + this.#lineBytes
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
