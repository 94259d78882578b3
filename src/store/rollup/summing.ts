import type { DatabaseSync } from 'node:sqlite'
import { firstIdAt } from '../../call/call-id.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { inTransaction } from '../sqlite/transaction.ts'
import { type CallCells, collectCall, summedColumnList, valueIn } from './summed-calls.ts'
import { addToCells, makeDayCells } from './sum-cells.ts'
import { type KeyOf, sumKeys } from './sum-keys.ts'
import { dayMs, hourMs } from './time-plan.ts'
import { lackedBy, readMarks, splitByAge, type UnsummedHour, unsummedHours } from './unsummed.ts'

/** Time (ms) after a day in which nearly all of its calls have ended, so that the day is computed once. */
const afterDayMs = hourMs
/**
 * Most numbers after a recent mark. A busy gateway writes 30,000 calls between two runs, and reading a whole
 * hour for them takes longer with each run.
 */
const mostRecent = 200_000
/** Most new calls for which hours with old marks go first. */
const fewCalls = 1000

const newestSql = `SELECT ${summedColumnList()} FROM calls INDEXED BY calls_by_seq WHERE seq > ? ORDER BY seq LIMIT ?`
const ofHourSql = `SELECT ${summedColumnList()} FROM calls NOT INDEXED WHERE id >= ? AND id < ? ORDER BY id LIMIT ?`
/** The first day whose cells are to be made, and the first key whose cell is not made yet. */
const dueDaySql =
  'SELECT cell_number, seq FROM unsummed WHERE minutes = 1440 AND cell_number < ? ORDER BY cell_number LIMIT 1'

/** An hour whose calls are being read. */
interface HourReading {
  readonly mark: UnsummedHour
  /** Later calls are not counted. */
  readonly lastSeq: number
  readonly cells: CallCells
  nextId: number
}

/**
 * Adds missing calls to the sums of hours, and makes days of hours. Calls beyond an hour's `seq` are added to
 * its cells. Cells and `seq` change in one transaction, so that each call counts once. After an error, make a
 * new `Summing`.
 */
export class Summing {
  readonly #statements: RowStatements
  readonly #keyOf: KeyOf
  readonly #recentNumbers: number
  #reading: HourReading | null = null

  /** `keyLimit` and `recentNumbers` are for tests. */
  constructor(database: DatabaseSync, keyLimit?: number, recentNumbers: number = mostRecent) {
    this.#statements = new RowStatements(database)
    this.#recentNumbers = recentNumbers
    this.#keyOf = sumKeys(this.#statements, keyLimit)
  }

  /**
   * Reads up to `limit` calls, or keys of a day before `nowMs` (ms since the Unix epoch). False if nothing is
   * left to do.
   */
  step(nowMs: number, limit: number): boolean {
    if (this.#reading !== null) {
      this.#continue(this.#reading, limit)
      return true
    }
    const marks = readMarks(this.#statements)
    const { lastSeq } = marks
    const { recent, old, leastSeq } = splitByAge(marks, this.#recentNumbers)
    const [mark] = old
    // While calls come, there is always another call to add, so old marks do not wait for the last one.
    if (mark !== undefined && lastSeq - leastSeq <= fewCalls) {
      this.#reading = { mark, lastSeq, cells: new Map(), nextId: firstIdAt(mark.hour * hourMs) }
      return true
    }
    const isAll = recent.length === 0 || this.#addNewest(limit)
    return !isAll || mark !== undefined || this.#makeDay(nowMs, limit)
  }

  /** Adds missing calls in the order of writing. Returns whether these were all. */
  #addNewest(limit: number): boolean {
    return inTransaction(this.#statements.database, () => {
      const { recent, leastSeq } = splitByAge(readMarks(this.#statements), this.#recentNumbers)
      const calls = this.#statements.all(newestSql, leastSeq, limit)
      const isLacking = lackedBy(recent)
      const cells: CallCells = new Map()
      for (const call of calls) if (isLacking(call)) collectCall(cells, call)
      addToCells(this.#statements, this.#keyOf, cells)
      const last = calls.at(-1)
      const isAll = last === undefined || calls.length < limit
      if (isAll) this.#statements.run('DELETE FROM unsummed WHERE minutes = 60 AND seq >= ?', leastSeq)
      else {
        const reached = 'UPDATE unsummed SET seq = max(seq, ?) WHERE minutes = 60 AND seq >= ?'
        this.#statements.run(reached, valueIn(last, 'seq'), leastSeq)
      }
      return isAll
    })
  }

  /** Reads the next calls of an hour, without the lock; with the last of them, writes the cells. */
  #continue(reading: HourReading, limit: number): void {
    const { mark, lastSeq, cells } = reading
    const past = firstIdAt((mark.hour + 1) * hourMs)
    const calls = this.#statements.all(ofHourSql, reading.nextId, past, limit)
    for (const call of calls) {
      const seq = valueIn(call, 'seq') ?? 0
      if (seq > mark.seq && seq <= lastSeq) collectCall(cells, call)
    }
    reading.nextId = Math.max(reading.nextId, (valueIn(calls.at(-1) ?? [], 'id') ?? 0) + 1)
    if (calls.length === limit) return
    // If another process holds the lock, the next step tries again.
    inTransaction(this.#statements.database, () => {
      const [now] = unsummedHours(this.#statements, mark.hour, mark.hour + 1)
      // Another process has added the calls meanwhile, or changed some.
      if (now?.seq !== mark.seq || now.changes !== mark.changes) return
      addToCells(this.#statements, this.#keyOf, cells)
      const reached = 'UPDATE unsummed SET seq = ? WHERE minutes = 60 AND cell_number = ?'
      this.#statements.run(reached, lastSeq, mark.hour)
    })
    this.#reading = null
  }

  /** Makes the next cells of a day that is over. False if no day is left to make. */
  #makeDay(nowMs: number, limit: number): boolean {
    const pastDay = Math.floor((nowMs - afterDayMs) / dayMs)
    if (this.#statements.first(dueDaySql, pastDay) === undefined) return false
    inTransaction(this.#statements.database, () => {
      const [day, firstKey] = this.#statements.first<readonly number[]>(dueDaySql, pastDay) ?? []
      if (day === undefined || firstKey === undefined) return
      const pastKey = firstKey + limit
      makeDayCells(this.#statements, day, firstKey, pastKey)
      // Readers use a day only when it is complete.
      if (pastKey > (this.#statements.number('SELECT max(id) FROM sum_keys') ?? 0))
        this.#statements.run('DELETE FROM unsummed WHERE minutes = 1440 AND cell_number = ?', day)
      else
        this.#statements.run(
          'UPDATE unsummed SET seq = ? WHERE minutes = 1440 AND cell_number = ?',
          pastKey,
          day,
        )
    })
    return true
  }
}
