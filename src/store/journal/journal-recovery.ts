import { readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { firstIdAt } from '../../call/call-id.ts'
import type { CallStart } from '../../call/call.ts'
import { type StoredCall, unknownFields } from '../../call/call-record.ts'
import type { CallPricer } from '../write/call-pricer.ts'
import { CallWriter, type RecordedListener } from '../write/call-writer.ts'
import { foldedUntilMs } from '../rollup/fold-calls.ts'
import { instanceLockPath } from '../sqlite/instance-number.ts'
import { type JournalHeader, parseEnd, parseHeader, parseStart } from './journal-line.ts'
import { tryFileLock } from '../../lib/file-lock.ts'
import { isAlive } from '../../lib/process-identity.ts'
import { readBytes } from '../../lib/read-file.ts'
import { BatchEncoder, WordList } from '../write/record-batch.ts'
import { timeText } from '../sqlite/store-files.ts'

const callsPerBatch = 500
/** Of a file that was being made when the power went there may be zeros alone. */
const hasText = /[^\0]/

/** The gateway that reads the journals. */
export interface JournalReader {
  readonly instance: string
  readonly number: number | null
}

export interface RecoveryOptions {
  /** Null for a job. */
  readonly self: JournalReader | null
  readonly wallTimeMs: number
  readonly pricer?: CallPricer
  /** Told of the rows. */
  readonly recorded?: RecordedListener | null
}

export interface Recovery {
  /** Which journal could not be read whole; it is kept, under another name if it has had its turn. Null if all could. */
  readonly damage: string | null
  /** Calls whose id another call has: they have no row. */
  readonly conflicts: number
}

/**
 * Makes rows of the calls that dead instances left, whether those had ended or not, then deletes their journals. A call that
 * has its row keeps it, so that being killed in the middle, or doing it twice at once, changes nothing.
 */
export function recoverJournals(
  folder: string,
  database: DatabaseSync,
  { self, wallTimeMs, pricer, recorded }: RecoveryOptions,
): Recovery {
  let damage: string | null = null
  let conflicts = 0
  for (const name of readdirSync(folder)) {
    if (!/^inflight-.*\.log(\.tmp)?$/.test(name)) continue
    const path = join(folder, name)
    // A file that is only just being written has none yet: the one whose place it takes tells whose it is.
    const header = headerOf(path) ?? headerOf(path.replace(/\.tmp$/, ''))
    using claim = claimJournal(folder, header, self)
    if (claim === null) continue
    const journal = readJournal(path, header)
    if (journal === 'gone') continue
    if (journal === 'unreadable') {
      damage = `${path} cannot be read; calls that were cut off may be missing. Delete it if it is no longer wanted`
      continue
    }
    // What was being written under this name stands, whole, under the other.
    if (name.endsWith('.tmp')) {
      ifPossible(() => rmSync(path, { force: true }))
      continue
    }
    if (header !== null) conflicts += writeLeft(database, journal.calls, pricer, recorded)
    if (!journal.isDamaged) ifPossible(() => rmSync(path, { force: true }))
    else {
      const kept = `${path}.corrupt-${timeText(wallTimeMs)}`
      ifPossible(() => renameSync(path, kept))
      damage = `${path} was damaged, and calls that were cut off may be missing; it was kept as ${kept}`
    }
  }
  return { damage, conflicts }
}

/** The longest text that there can be. */
const mostBytes = 512 * 2 ** 20 - 1
const free: Disposable = { [Symbol.dispose]: () => {} }

/**
 * Null if the instance lives. While the claim is held, nobody else reads its journal, and no gateway takes its number. A
 * number that another gateway has taken since is that one's to look after.
 */
function claimJournal(
  folder: string,
  header: JournalHeader | null,
  self: JournalReader | null,
): Disposable | null {
  if (header === null) return free
  if (header.instance === self?.instance) return null
  if (header.number === null) return isAlive(header) ? null : free
  if (header.number === self?.number) return free
  try {
    return tryFileLock(instanceLockPath(folder, header.number))
  } catch {
    // Nothing tells of the instance: its journal is left for another time.
    return null
  }
}

interface Journal {
  readonly calls: readonly StoredCall[]
  /** Lines are no calls, and not only the last, which the end of the process may have torn. */
  readonly isDamaged: boolean
}

/** Without a header nothing says whose calls these are, nor whether they have ended. */
function readJournal(path: string, header: JournalHeader | null): Journal | 'gone' | 'unreadable' {
  try {
    const [head = '', ...lines] = textIn(path).split('\n')
    const instance = header?.instance ?? ''
    const found = lines.map((line) => leftCall(line, instance))
    const isDamaged = (header === null && hasText.test(head)) || found.slice(0, -1).includes(null)
    // What a call ended as stands behind what it began as.
    const calls = new Map(found.filter((call) => call !== null).map((call) => [call.id, call]))
    return { calls: [...calls.values()], isDamaged }
  } catch (error) {
    // Another instance that starts may have been first.
    return error instanceof Error && 'code' in error && error.code === 'ENOENT' ? 'gone' : 'unreadable'
  }
}

function leftCall(line: string, instance: string): StoredCall | null {
  const start = parseStart(line)
  return start === null ? parseEnd(line) : interruptedCall(start, instance)
}

/** A call that was sent and of which nothing more is known. */
export function interruptedCall(start: CallStart, instance: string): StoredCall {
  return {
    ...unknownFields,
    ...start,
    instance,
    outcome: 'interrupted',
    attempts: 1,
    responseBytes: 0,
    usageSource: 'none',
  }
}

/** Says how many calls found their id taken by another. */
function writeLeft(
  database: DatabaseSync,
  found: readonly StoredCall[],
  pricer: CallPricer | null = null,
  recorded: RecordedListener | null = null,
): number {
  const unfoldedId = firstIdAt(foldedUntilMs(database))
  // A call that was folded away has left no row to know it by: it is counted already.
  const calls = found.filter(({ id }) => id >= unfoldedId)
  const words = new WordList()
  const writer = new CallWriter(database, words, pricer, recorded)
  const encoder = new BatchEncoder()
  let conflicts = 0
  for (let at = 0; at < calls.length; at += callsPerBatch) {
    const batch = encoder.encode(calls.slice(at, at + callsPerBatch))
    words.accept(batch)
    conflicts += writer.write(batch).conflicts
  }
  return conflicts
}

/** Bytes that are no text damage the line that they are in alone. */
function textIn(path: string): string {
  return readBytes(path, mostBytes).toString()
}

/** What the first line says, if it can be read and is whole. */
function headerOf(path: string): JournalHeader | null {
  try {
    const [head = '', ...lines] = textIn(path).split('\n', 2)
    return lines.length === 0 ? null : parseHeader(head)
  } catch {
    return null
  }
}

/** What cannot be deleted or renamed is looked at again another time, to no effect: its calls have rows by now. */
function ifPossible(change: () => void): void {
  try {
    change()
  } catch {
    return
  }
}
