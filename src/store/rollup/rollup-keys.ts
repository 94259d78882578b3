import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { anyId, type Grouping, maxKeys, otherEntryId } from './rollup-groupings.ts'

/** The numbers under which the rollups hold what a grouping tells apart. */
export class RollupKeys {
  readonly #find: StatementSync
  readonly #add: StatementSync
  readonly #count: StatementSync
  readonly #limit: number
  readonly #ids = new Map<string, number>()

  constructor(database: DatabaseSync, limit: number = maxKeys) {
    this.#limit = limit
    const isKey = 'grouping_id = ? AND call_type_id = ? AND entry_id = ? AND outcome_id = ?'
    this.#find = database.prepare(`SELECT id FROM rollup_keys WHERE ${isKey}`)
    this.#add = database.prepare(
      'INSERT INTO rollup_keys (grouping_id, call_type_id, entry_id, outcome_id) VALUES (?, ?, ?, ?)',
    )
    this.#count = database.prepare('SELECT count(*) AS keys FROM rollup_keys WHERE grouping_id = ?')
  }

  /** The key under which a grouping holds such calls. */
  idOf(grouping: Grouping, callTypeId: number, entryId: number, outcomeId: number): number {
    const callType = grouping.byType ? callTypeId : anyId
    const entry = grouping.entry === null ? anyId : entryId
    const outcome = grouping.byOutcome ? outcomeId : anyId
    const name = `${grouping.id} ${callType} ${entry} ${outcome}`
    const known = this.#ids.get(name)
    if (known !== undefined) return known
    const found = this.#find.get(grouping.id, callType, entry, outcome)?.['id']
    const id = found ?? this.#added(grouping, callType, entry, outcome)
    this.#ids.set(name, Number(id))
    return Number(id)
  }

  /** The same, where there is one already; else `null`. */
  known(
    { id, byType, byOutcome, entry }: Grouping,
    callTypeId: number,
    entryId: number,
    outcomeId: number,
  ): number | null {
    const [callType, outcome] = [byType ? callTypeId : anyId, byOutcome ? outcomeId : anyId]
    for (const one of entry === null ? [anyId] : [entryId, otherEntryId]) {
      const found = this.#find.get(id, callType, one, outcome)?.['id']
      if (found !== undefined) return Number(found)
    }
    return null
  }

  /** After a rollback: keys that were added in it are gone. */
  forget(): void {
    this.#ids.clear()
  }

  #added(grouping: Grouping, callType: number, entry: number, outcome: number): number | bigint {
    const isFull = Number(this.#count.get(grouping.id)?.['keys']) >= this.#limit
    if (isFull && grouping.entry !== null && entry !== otherEntryId) {
      return this.idOf(grouping, callType, otherEntryId, outcome)
    }
    return this.#add.run(grouping.id, callType, entry, outcome).lastInsertRowid
  }
}
