import { firstIdAt, idsPerMs, importedIdAt, importedPerMs, startedAtMs } from '../../call/call-id.ts'
import type { RowStatements } from '../sqlite/row-statements.ts'

/** Finds free ids for imported calls. A call keeps its millisecond, which has 4,096 ids. */
export class ImportIds {
  readonly #statements: RowStatements
  /** Taken ids, by the milliseconds that were looked up. */
  readonly #taken = new Map<number, Set<number>>()
  /** A span without rows at the time of `begin`. */
  #empty: readonly [fromMs: number, untilMs: number] = [0, 0]

  constructor(statements: RowStatements) {
    this.#statements = statements
  }

  /** Forgets all ids, and looks up whether the database has calls between two milliseconds. */
  begin(fromMs: number, untilMs: number): void {
    this.#taken.clear()
    const sql = 'SELECT id FROM calls WHERE id >= ? AND id < ? LIMIT 1'
    const firstId = this.#statements.number(sql, firstIdAt(fromMs), firstIdAt(untilMs))
    this.#empty = firstId === null ? [fromMs, untilMs] : [0, 0]
  }

  isFree(id: number): boolean {
    return !this.#takenAt(startedAtMs(id)).has(id)
  }

  take(id: number): void {
    this.#takenAt(startedAtMs(id)).add(id)
  }

  /** A free id of a millisecond; null without one. With `isReserved`, ids that gateways give out are excluded. */
  free(ms: number, hash: number, isReserved: boolean): number | null {
    const taken = this.#takenAt(ms)
    for (let at = 0; at < importedPerMs; at++) {
      const id = importedIdAt(ms, hash + at)
      if (!taken.has(id)) return id
    }
    if (isReserved) return null
    const first = firstIdAt(ms)
    for (let id = first + idsPerMs - importedPerMs - 1; id >= first; id--) if (!taken.has(id)) return id
    return null
  }

  #takenAt(ms: number): Set<number> {
    const existing = this.#taken.get(ms)
    if (existing !== undefined) return existing
    const isEmpty = ms >= this.#empty[0] && ms < this.#empty[1]
    const rows = isEmpty
      ? []
      : this.#statements.all(
          'SELECT id FROM calls WHERE id >= ? AND id < ?',
          firstIdAt(ms),
          firstIdAt(ms + 1),
        )
    const taken = new Set(rows.map(([id]) => id ?? 0))
    this.#taken.set(ms, taken)
    return taken
  }
}
