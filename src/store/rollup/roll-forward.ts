import type { DatabaseSync } from 'node:sqlite'
import { startedAtMs } from '../../call/call-id.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { inTransaction } from '../sqlite/transaction.ts'
import { cellsOf, figureSourceList, valueIn } from './call-figures.ts'
import { quarterMs, quartersOf } from './rollup-spans.ts'
import type { RollupState } from './rollup-state.ts'
import { RollupSums } from './rollup-sums.ts'

const quartersPerHour = quartersOf(1)
const quartersPerDay = quartersOf(3)

/**
 * Adds calls to the rollups in the order in which they were written, each once: what is added and how far that
 * has come change in one transaction. A wider slot is made from finer ones when its time is over; what comes
 * later than that is added to it directly. After an error it is to be made anew: it knows keys that are not there.
 */
export class RollForward {
  readonly #database: DatabaseSync
  readonly #statements: RowStatements
  readonly #sums: RollupSums

  constructor(database: DatabaseSync, keyLimit?: number) {
    this.#database = database
    this.#statements = new RowStatements(database)
    this.#sums = new RollupSums(database, keyLimit)
  }

  /**
   * Adds up to `limit` calls, or makes wider slots of up to `limit` keys, and more of them for `ms` milliseconds in the same
   * transaction; false if nothing is left to do. Slots whose time is over at `nowMs` are made.
   */
  step(nowMs: number, limit: number, ms: number = 0): boolean {
    const quarterNow = Math.floor(nowMs / quarterMs)
    const deadline = performance.now() + ms
    return inTransaction(this.#database, () => {
      let hasMore = this.#step(quarterNow, limit)
      while (hasMore && performance.now() < deadline) hasMore = this.#step(quarterNow, limit)
      return hasMore
    })
  }

  #step(quarterNow: number, limit: number): boolean {
    const state = this.#sums.state()
    const isBehind = this.#lastSeq() - state.watermark > limit
    // While many calls are still to come, a time is over when calls of a later one have come.
    const now = isBehind ? Math.min(quarterNow, this.#quarterReached(state.watermark)) : quarterNow
    if (this.#completeSome(state, now, limit)) return true
    const toAdd = `SELECT ${figureSourceList()} FROM calls WHERE seq > ? ORDER BY seq LIMIT ?`
    const calls = this.#statements.all(toAdd, state.watermark, limit)
    const last = calls.at(-1)
    if (last === undefined) return false
    this.#sums.add(cellsOf(calls), state)
    this.#setState(valueIn(last, 'seq') ?? state.watermark, state.coarseUntil, state.coarseKey)
    return calls.length === limit
  }

  #quarterReached(watermark: number): number {
    const lastId = this.#statements.number(
      'SELECT id FROM calls WHERE seq <= ? ORDER BY seq DESC LIMIT 1',
      watermark,
    )
    return Math.floor(startedAtMs(lastId ?? 0) / quarterMs)
  }

  /** Makes wider slots whose time is over; false if there are none. */
  #completeSome({ watermark, coarseUntil, coarseKey }: RollupState, now: number, limit: number): boolean {
    const hourEnd = coarseUntil + quartersPerHour
    // An hour that was begun is finished first, whatever the clock says now.
    if (hourEnd > now && coarseKey === 0) return false
    if (coarseKey === 0) {
      // Days before this one are complete; if it is empty too, there is nothing to make for a while.
      const next = this.#nextQuarter(startOf(coarseUntil, quartersPerDay))
      const until = startOf(next === null ? now : Math.min(now, next), quartersPerHour)
      if (startOf(until, quartersPerDay) > startOf(coarseUntil, quartersPerDay)) {
        this.#setState(watermark, next === null ? until : startOf(until, quartersPerDay), 0)
        return true
      }
    }
    const keys = this.#someKeys(coarseKey, limit)
    this.#sums.complete(keys, hourEnd)
    if (keys.length < limit) this.#setState(watermark, hourEnd, 0)
    else this.#setState(watermark, coarseUntil, keys.at(-1)?.[0] ?? 0)
    return true
  }

  #lastSeq(): number {
    return this.#statements.number('SELECT max(seq) FROM calls') ?? 0
  }

  /** The first quarter from one on that holds anything. */
  #nextQuarter(from: number): number | null {
    return this.#statements.number('SELECT min(slot) FROM rollup_quarters WHERE slot >= ?', from)
  }

  #someKeys(afterId: number, limit: number): readonly (readonly [id: number, groupingId: number])[] {
    return this.#statements.all<readonly [number, number]>(
      'SELECT id, grouping_id FROM rollup_keys WHERE id > ? ORDER BY id LIMIT ?',
      afterId,
      limit,
    )
  }

  #setState(watermark: number, coarseUntil: number, coarseKey: number): void {
    const sql = 'UPDATE rollup_state SET watermark_seq = ?, coarse_until = ?, coarse_key = ?'
    this.#statements.run(sql, watermark, coarseUntil, coarseKey)
  }
}

/** The first quarter of the slot of that width in which a quarter lies. */
function startOf(quarter: number, width: number): number {
  return Math.floor(quarter / width) * width
}
