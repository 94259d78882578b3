import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { firstIdAt, startedAtMs } from '../../call/call-id.ts'
import { inTransaction } from '../sqlite/transaction.ts'
import { addCall, CallCells, type FigureRow, figureSourceList, valueIn } from './call-figures.ts'
import { groupings } from './rollup-groupings.ts'
import { quarterMs, quartersOf } from './rollup-spans.ts'
import type { RollupState } from './rollup-state.ts'
import { RollupSums } from './rollup-sums.ts'

const quartersPerHour = quartersOf(1)
const quartersPerDay = quartersOf(3)
const groupingOf = new Map(groupings.map((grouping) => [grouping.id, grouping]))

/**
 * Adds calls to the rollups in the order in which they were written, each once: what is added and how far that
 * has come change in one transaction. A wider slot is made from finer ones when its time is over; what comes
 * later than that is added to it directly.
 */
export class RollForward {
  readonly #database: DatabaseSync
  readonly #sums: RollupSums
  readonly #setState: StatementSync
  readonly #lastSeq: StatementSync
  readonly #callAt: StatementSync
  readonly #calls: StatementSync
  readonly #nextQuarter: StatementSync
  readonly #someKeys: StatementSync
  readonly #clearSpans: StatementSync
  readonly #clearHour: StatementSync

  constructor(database: DatabaseSync, keyLimit?: number) {
    this.#database = database
    this.#sums = new RollupSums(database, keyLimit)
    this.#setState = database.prepare(
      'UPDATE rollup_state SET watermark_seq = ?, coarse_until = ?, coarse_key = ?',
    )
    this.#lastSeq = database.prepare('SELECT coalesce(max(seq), 0) AS seq FROM calls')
    this.#callAt = database.prepare('SELECT seq, id FROM calls WHERE seq <= ? ORDER BY seq DESC LIMIT 1')
    this.#callAt.setReturnArrays(true)
    this.#calls = database.prepare(
      `SELECT ${figureSourceList()} FROM calls WHERE seq > ? ORDER BY seq LIMIT ?`,
    )
    this.#calls.setReturnArrays(true)
    this.#nextQuarter = database.prepare('SELECT min(slot) AS slot FROM rollup_quarters WHERE slot >= ?')
    this.#someKeys = database.prepare(
      'SELECT id, grouping_id FROM rollup_keys WHERE id > ? ORDER BY id LIMIT ?',
    )
    this.#clearSpans = database.prepare(
      'DELETE FROM rollup_spans WHERE level IN (1, 2, 3, 4) AND key_id = ? AND (level <> 1 OR slot >= ?)',
    )
    this.#clearHour = database.prepare('DELETE FROM rollup_quarters WHERE slot >= ? AND slot < ?')
  }

  /** Adds up to `limit` calls, or makes wider slots of up to `limit` keys; false if nothing is left to do. */
  step(nowMs: number, limit: number): boolean {
    return this.#within(() => this.#step(Math.floor(nowMs / quarterMs), limit))
  }

  /**
   * Begins anew: all that is not folded, and the wider slots of what is, will be thrown away and made again by the
   * next steps, whoever takes them. From this instant on whoever asks counts the calls themselves.
   */
  restart(): void {
    this.#within(() => {
      const { watermark, isVoid, foldedUntil } = this.#sums.state()
      if (isVoid) return
      const run = (sql: string, ...values: readonly number[]): void => {
        this.#database.prepare(sql).run(...values)
      }
      // Of a day whose folding was not finished some calls are there still, and in the sums that stay.
      const isFolded = 'FROM calls WHERE id < ? AND +seq <= ?'
      const folded = [firstIdAt(foldedUntil * quarterMs), watermark]
      run(`DELETE FROM repriced WHERE call_id IN (SELECT id ${isFolded})`, ...folded)
      run(`DELETE ${isFolded}`, ...folded)
      // The numbers of calls go on from the watermark: they must not come twice.
      run('UPDATE calls SET seq = ?1 WHERE seq < ?1 AND seq = (SELECT max(seq) FROM calls)', watermark)
      run('UPDATE rollup_state SET held_from = min(held_from, folded_until)')
      this.#setState.run(-1 - watermark, 0, 0)
    })
  }

  #within<T>(work: () => T): T {
    return inTransaction(this.#database, work, () => this.#sums.forget())
  }

  #step(quarterNow: number, limit: number): boolean {
    const state = this.#sums.state()
    if (state.isVoid) return this.#clearSome(state)
    const isBehind = Number(this.#lastSeq.get()?.['seq']) - state.watermark > limit
    // While many calls are still to come, a time is over when calls of a later one have come.
    const now = isBehind ? Math.min(quarterNow, this.#quarterReached(state.watermark)) : quarterNow
    if (this.#completeSome(state, now, limit)) return true
    const calls = this.#calls.all(state.watermark, limit) as unknown as readonly FigureRow[]
    const last = calls.at(-1)
    if (last === undefined) return false
    const cells = new CallCells()
    for (const call of calls) addCall(cells.figuresFor(call), call)
    this.#sums.add(cells.all(), state)
    this.#setState.run(valueIn(last, 'seq'), state.coarseUntil, state.coarseKey)
    return calls.length === limit
  }

  #quarterReached(watermark: number): number {
    const [, id = 0] = (this.#callAt.get(watermark) ?? []) as unknown as readonly number[]
    return Math.floor(startedAtMs(id) / quarterMs)
  }

  /** Makes wider slots whose time is over; false if there are none. */
  #completeSome({ watermark, coarseUntil, coarseKey }: RollupState, now: number, limit: number): boolean {
    const hourEnd = coarseUntil + quartersPerHour
    // An hour that was begun is finished first, whatever the clock says now.
    if (hourEnd > now && coarseKey === 0) return false
    if (coarseKey === 0) {
      // Days before this one are complete; if it is empty too, there is nothing to make for a while.
      const next = this.#nextQuarter.get(startOf(coarseUntil, quartersPerDay))?.['slot'] ?? null
      const until = startOf(next === null ? now : Math.min(now, Number(next)), quartersPerHour)
      if (startOf(until, quartersPerDay) > startOf(coarseUntil, quartersPerDay)) {
        this.#setState.run(watermark, next === null ? until : startOf(until, quartersPerDay), 0)
        return true
      }
    }
    const keys = this.#someKeys.all(coarseKey, limit)
    for (const { id, grouping_id } of keys) {
      const grouping = groupingOf.get(Number(grouping_id))
      if (grouping !== undefined) this.#sums.complete(Number(id), grouping, hourEnd)
    }
    if (keys.length < limit) this.#setState.run(watermark, hourEnd, 0)
    else this.#setState.run(watermark, coarseUntil, Number(keys.at(-1)?.['id'] ?? 0))
    return true
  }

  /** Throws void sums away: the wider slots of a key, or the quarters of an hour. */
  #clearSome({ watermark, coarseKey, foldedUntil }: RollupState): boolean {
    const [key] = this.#someKeys.all(coarseKey, 1)
    if (key !== undefined) {
      // Folded hours that were never made of quarters cannot be made again.
      const isHourly = groupingOf.get(Number(key['grouping_id']))?.levels[0] === 1
      this.#clearSpans.run(key['id'] ?? 0, isHourly ? foldedUntil / quartersPerHour : 0)
      this.#setState.run(watermark, 0, key['id'] ?? 0)
      return true
    }
    const next = this.#nextQuarter.get(foldedUntil)?.['slot'] ?? null
    if (next !== null) this.#clearHour.run(next, Number(next) + quartersPerHour)
    else this.#setState.run(Number(this.#lastSeq.get()?.['seq']) === 0 ? -1 - watermark : 0, 0, 0)
    return true
  }
}

/** The first quarter of the slot of that width in which a quarter lies. */
function startOf(quarter: number, width: number): number {
  return Math.floor(quarter / width) * width
}
