import type { DatabaseSync } from 'node:sqlite'
import type { CallRecord } from '../../src/call/call-record.ts'
import { systemClock } from '../../src/call/clock.ts'
import { connectRows } from '../../src/share/rows/row-connection.ts'
import { pullRows, sendRows, type ShareSettings } from '../../src/share/rows/share-loops.ts'
import { ShareState } from '../../src/store/share/share-state.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { rowsOf } from '../store/rows-of.ts'
import { eventually } from '../support/eventually.ts'
import { writeCalls } from '../store/write-calls.ts'

/** A file of calls on a machine that shares them. */
export interface SharedFile extends Disposable {
  readonly path: string
  readonly database: DatabaseSync
  readonly state: ShareState
  record(calls: readonly CallRecord[]): void
}

export function makeFile(path: string): SharedFile {
  const database = openForWriting(path)
  return {
    path,
    database,
    state: new ShareState(database),
    record: (calls) => writeCalls(database, calls),
    [Symbol.dispose]: () => database.close(),
  }
}

export interface Roles extends AsyncDisposable {
  readonly lines: readonly string[]
}

/** Keeps a file and the shared database in step, in this process. */
export function share(
  path: string,
  url: string,
  { pulls = true, ...more }: Partial<ShareSettings> & { readonly pulls?: boolean } = {},
): Roles {
  const ending = new AbortController()
  const lines: string[] = []
  const settings = {
    path,
    connect: () => connectRows(url),
    shareDays: null,
    clock: systemClock,
    warn: (line: string) => void lines.push(line),
    ...more,
  }
  const roles = [sendRows(settings, ending.signal)]
  if (pulls) roles.push(pullRows(settings, ending.signal))
  return {
    lines,
    [Symbol.asyncDispose]: async () => {
      ending.abort()
      await Promise.all(roles)
    },
  }
}

/** All rows with their words. */
export function contentOf(database: DatabaseSync): readonly unknown[] {
  return rowsOf(database, 'SELECT * FROM calls_readable ORDER BY id')
}

export function countOf(database: DatabaseSync, condition = 'true'): number {
  return Number(database.prepare(`SELECT count(*) AS n FROM calls WHERE ${condition}`).get()?.['n'])
}

export async function untilCount(file: SharedFile, calls: number): Promise<void> {
  await eventually(`${file.path} has ${calls} calls`, () => countOf(file.database) >= calls)
}

export async function untilSent(file: SharedFile): Promise<void> {
  const isSent = (): boolean => file.state.cursors() !== null && file.state.waiting().rows === 0
  await eventually(`the calls of ${file.path} are sent`, isSent)
}
