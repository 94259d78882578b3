import type { DatabaseSync } from 'node:sqlite'
import { type NamedField, storedFields, valueType } from '../../call/fields/call-fields.ts'
import type { CallStart } from '../../call/call.ts'
import { type StoredCall, unknownFields } from '../../call/call-record.ts'
import { orNull } from '../../lib/errors.ts'
import { tryFileLock } from '../../lib/files/file-lock.ts'
import { instanceLockPath } from '../sqlite/instance-number.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { CallWriter, type RecordedListener } from './call-writer.ts'
import type { OpenCall } from './open-calls.ts'
import { BatchEncoder, Dictionary } from './record-batch.ts'

/** The gateway that recovers the calls of dead ones. */
export interface Recoverer {
  readonly instance: string
  /** The instance number; null without one. */
  readonly number: number | null
}

const callsAtOnce = 500

/**
 * Writes rows for calls that were open when their gateways ended. Returns how many found their id used by
 * another call. A call leaves `open_calls` in the transaction that adds its row, so a kill in between changes
 * nothing.
 */
export function recoverCalls(
  database: DatabaseSync,
  folder: string,
  self: Recoverer,
  recorded: RecordedListener | null = null,
): number {
  const statements = new RowStatements(database)
  let conflicts = 0
  const numbers = statements.all<readonly [number]>('SELECT DISTINCT lock_number FROM open_calls')
  for (const [number] of numbers) {
    using lock = lockOfDead(folder, number, self)
    if (lock === null) continue
    const openRows = statements.all<readonly [number, string, string]>(
      `SELECT o.id, i.text, o.call FROM open_calls AS o JOIN instances AS i ON i.id = o.instance_id
        WHERE o.lock_number = ? AND i.text <> ?`,
      number,
      self.instance,
    )
    const calls = openRows.flatMap((row) => leftCall(...row) ?? [])
    const [words, encoder] = [new Dictionary(), new BatchEncoder()]
    const writer = new CallWriter(database, words, null, recorded)
    for (let at = 0; at < calls.length; at += callsAtOnce) {
      const batch = encoder.encode(calls.slice(at, at + callsAtOnce))
      words.accept(batch)
      conflicts += writer.write(batch).conflicts
    }
    // Calls that have a row, and unreadable ones, are left.
    for (const [id] of openRows) statements.run('DELETE FROM open_calls WHERE id = ?', id)
  }
  return conflicts
}

const free: Disposable = { [Symbol.dispose]: () => {} }

/** Takes the lock of a dead gateway; null if it lives. While the lock is held, no gateway takes its number. */
function lockOfDead(folder: string, number: number, self: Recoverer): Disposable | null {
  if (number === self.number) return free
  // If the lock cannot be tried, the calls are left for later.
  return orNull(() => tryFileLock(instanceLockPath(folder, number)))
}

/** The call of a row of `open_calls`. Null if a damaged page has made its text unreadable. */
function leftCall(id: number, instance: string, text: string): (StoredCall & Pick<OpenCall, 'noted'>) | null {
  try {
    const call = interruptedCall({ ...JSON.parse(text), id }, instance)
    const isReadable = storedFields.every((field) => mayHold(field, call[field.record]))
    return isReadable ? { ...call, noted: 1 } : null
  } catch {
    return null
  }
}

/** A call of which only the start is known. */
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

function mayHold(field: NamedField, value: unknown): boolean {
  if (value === null) return field.required !== true
  const { codes } = field
  if (codes !== undefined) return typeof value === 'string' && Object.hasOwn(codes, value)
  return typeof value === valueType(field)
}
