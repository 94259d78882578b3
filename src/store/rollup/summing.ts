import type { DatabaseSync } from 'node:sqlite'
import { firstIdAt } from '../../call/call-id.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { inTransaction } from '../sqlite/transaction.ts'
import { CallCells, summedColumnList, valueIn } from './summed-calls.ts'
import { groupings } from './groupings.ts'
import { SumCells } from './sum-cells.ts'
import { SumKeys } from './sum-keys.ts'
import { dayMs, hourMs, hourOf } from './time-plan.ts'
import { hoursPerDay, noteDay, type UnsummedHour, unsummedDays, unsummedHours } from './unsummed.ts'

/** Time (ms) after a day in which nearly all of its calls have ended, so that the day is computed once. */
const afterDayMs = hourMs
/** Most calls to add in order of writing. With more, each hour is read separately. */
const manyCalls = 20_000
/** Most new calls for which changed hours go first. */
const fewCalls = 1000

const newestSql = `SELECT ${summedColumnList()} FROM calls INDEXED BY calls_by_seq WHERE seq > ? ORDER BY seq LIMIT ?`
const ofHourSql = `SELECT ${summedColumnList()} FROM calls NOT INDEXED WHERE id >= ? AND id < ? ORDER BY id LIMIT ?`

/** An hour whose calls are being counted. */
interface Recount {
  readonly hour: UnsummedHour
  /** Later calls are not counted. */
  readonly lastSeq: number
  readonly cells: CallCells
  nextId: number
}

/** A day whose cells are being made. */
interface DayWork {
  readonly day: number
  readonly changes: number
  nextKey: number
}

/**
 * Adds missing calls to the sums of hours. Calls beyond an hour's `seq` are added to its cells; the cells of
 * a changed hour are computed again. Cells and `seq` change in one transaction, so that each call counts
 * once. After an error, make a new `Summing`.
 */
export class Summing {
  readonly #database: DatabaseSync
  readonly #statements: RowStatements
  readonly #cells: SumCells
  #recount: Recount | null = null
  #day: DayWork | null = null

  /** `keyLimit` is for tests. */
  constructor(database: DatabaseSync, keyLimit?: number) {
    this.#database = database
    this.#statements = new RowStatements(database)
    this.#cells = new SumCells(
      this.#statements,
      new SumKeys(this.#statements, keyLimit === undefined ? {} : { limit: keyLimit }),
    )
  }

  /**
   * Reads up to `limit` calls, or keys of a day before `nowMs` (ms since the Unix epoch). False if nothing is
   * left to do.
   */
  step(nowMs: number, limit: number): boolean {
    if (this.#recount !== null) {
      this.#continue(this.#recount, limit)
      return true
    }
    const hours = unsummedHours(this.#statements)
    if (hours.length === 0) return this.#makeDays(nowMs, limit)
    const lastSeq = this.#lastSeq()
    const changed = hours.find(({ seq }) => seq === 0)
    const lacking = lastSeq - leastSeq(hours, lastSeq)
    const next = lacking > manyCalls ? hours[0] : lacking > fewCalls ? undefined : changed
    // While calls come, there is always another call to add, so changed hours do not wait for the last one.
    if (next === undefined)
      return !this.#addNewest(limit) || changed !== undefined || this.#makeDays(nowMs, limit)
    const nextId = firstIdAt(next.hour * hourMs)
    this.#recount = { hour: next, lastSeq, cells: new CallCells(), nextId }
    return true
  }

  /** Adds missing calls in the order of writing. Returns whether these were all. */
  #addNewest(limit: number): boolean {
    return inTransaction(this.#database, () => {
      const hours = unsummedHours(this.#statements)
      const seqOf = new Map(hours.map(({ hour, seq }) => [hour, seq]))
      const least = leastSeq(hours, Number.MAX_SAFE_INTEGER)
      if (least === Number.MAX_SAFE_INTEGER) return true
      const calls = this.#statements.all(newestSql, least, limit)
      const cells = new CallCells()
      for (const call of calls) {
        const seq = seqOf.get(hourOf(valueIn(call, 'id') ?? 0)) ?? 0
        if (seq > 0 && (valueIn(call, 'seq') ?? 0) > seq) cells.add(call)
      }
      for (const hour of this.#cells.add(cells.all()))
        noteDay(this.#statements, Math.floor(hour / hoursPerDay))
      const last = calls.at(-1)
      const isAll = last === undefined || calls.length < limit
      if (isAll) this.#statements.run('DELETE FROM unsummed WHERE minutes = 60 AND seq > 0')
      else {
        const reached = 'UPDATE unsummed SET seq = ? WHERE minutes = 60 AND seq > 0 AND seq < ?'
        const seq = valueIn(last, 'seq') ?? 0
        this.#statements.run(reached, seq, seq)
      }
      return isAll
    })
  }

  /** Reads the next calls of an hour, without the lock; with the last of them, writes the cells. */
  #continue(recount: Recount, limit: number): void {
    const { hour, lastSeq, cells } = recount
    const past = firstIdAt((hour.hour + 1) * hourMs)
    const calls = this.#statements.all(ofHourSql, recount.nextId, past, limit)
    for (const call of calls) {
      const seq = valueIn(call, 'seq') ?? 0
      if (seq > hour.seq && seq <= lastSeq) cells.add(call)
    }
    recount.nextId = Math.max(recount.nextId, (valueIn(calls.at(-1) ?? [], 'id') ?? 0) + 1)
    if (calls.length === limit) return
    // If another process holds the lock, the next step tries again.
    inTransaction(this.#database, () => this.#finish(recount))
    this.#recount = null
  }

  #finish({ hour: { hour, seq, changes }, lastSeq, cells }: Recount): void {
    const [now] = unsummedHours(this.#statements, hour, hour + 1)
    // Another process has added the calls meanwhile, or changed some.
    if (now?.seq !== seq || now.changes !== changes) return
    if (seq === 0) this.#cells.removeHour(hour)
    this.#cells.add(cells.all())
    noteDay(this.#statements, Math.floor(hour / hoursPerDay))
    if (this.#lastSeq() <= lastSeq)
      this.#statements.run('DELETE FROM unsummed WHERE minutes = 60 AND cell_number = ?', hour)
    else
      this.#statements.run(
        'UPDATE unsummed SET seq = ? WHERE minutes = 60 AND cell_number = ?',
        lastSeq,
        hour,
      )
  }

  /** Computes the cells of days from those of hours, key by key. Readers use a day only when it is complete. */
  #makeDays(nowMs: number, limit: number): boolean {
    const days = unsummedDays(this.#statements)
    let work = this.#day
    if (work === null || days.get(work.day) !== work.changes) {
      const dueDay = [...days].find(([day]) => (day + 1) * dayMs + afterDayMs <= nowMs)
      work = dueDay === undefined ? null : { day: dueDay[0], changes: dueDay[1], nextKey: 0 }
    }
    this.#day = work
    if (work === null) return false
    const { day, changes, nextKey } = work
    inTransaction(this.#database, () => {
      const firstHour = day * hoursPerDay
      const isSame =
        unsummedDays(this.#statements).get(day) === changes &&
        unsummedHours(this.#statements, firstHour, firstHour + hoursPerDay).length === 0
      if (!isSame) {
        this.#day = null
        return
      }
      work.nextKey = nextKey + limit
      for (const grouping of groupings) this.#cells.makeDay(grouping, day, nextKey, work.nextKey)
      if (work.nextKey <= (this.#statements.number('SELECT max(id) FROM sum_keys') ?? 0)) return
      this.#statements.run('DELETE FROM unsummed WHERE minutes = 1440 AND cell_number = ?', day)
      this.#day = null
    })
    return true
  }

  #lastSeq(): number {
    return this.#statements.number('SELECT max(seq) FROM calls') ?? 0
  }
}

/** The smallest number beyond which an unchanged hour lacks calls; `most` without such an hour. */
function leastSeq(hours: readonly UnsummedHour[], most: number): number {
  return hours.reduce((least, { seq }) => (seq > 0 ? Math.min(least, seq) : least), most)
}
