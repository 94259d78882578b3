import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { entryOf, type FigureRow, valueIn } from './call-figures.ts'
import { type Grouping, maxKeys, noId, otherEntryId } from './rollup-groupings.ts'

type Parts = readonly [grouping: number, callType: number, entry: number, outcome: number]

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

  /** The key under which a grouping files a call, which is made if there is none; `null` if it leaves the call out. */
  idFor(grouping: Grouping, call: FigureRow): number | null {
    const parts = partsOf(grouping, call)
    return parts === null ? null : this.#idOf(parts, grouping.entry !== null)
  }

  /** The same, but nothing is made: `noId` if there is no key. */
  knownFor(grouping: Grouping, call: FigureRow): number | null {
    const parts = partsOf(grouping, call)
    if (parts === null) return null
    return this.#found(parts) ?? this.#found(withEntry(parts, otherEntryId)) ?? noId
  }

  /** After a rollback: keys that were added in it are gone. */
  forget(): void {
    this.#ids.clear()
  }

  #idOf(parts: Parts, mayBeOther: boolean): number {
    const name = parts.join(' ')
    const known = this.#ids.get(name)
    if (known !== undefined) return known
    const id = this.#found(parts) ?? this.#added(parts, mayBeOther)
    this.#ids.set(name, id)
    return id
  }

  #found(parts: Parts): number | undefined {
    const id = this.#find.get(...parts)?.['id']
    return id === undefined ? undefined : Number(id)
  }

  #added(parts: Parts, mayBeOther: boolean): number {
    if (mayBeOther && Number(this.#count.get(parts[0])?.['keys']) >= this.#limit) {
      return this.#idOf(withEntry(parts, otherEntryId), false)
    }
    return Number(this.#add.run(...parts).lastInsertRowid)
  }
}

function partsOf(grouping: Grouping, call: FigureRow): Parts | null {
  const entry = entryOf(call, grouping)
  if (entry === undefined) return null
  const { id, byType, byOutcome } = grouping
  const callType = byType ? (valueIn(call, 'call_type_id') ?? 0) : noId
  const outcome = byOutcome ? (valueIn(call, 'outcome_id') ?? 0) : noId
  return [id, callType, entry, outcome]
}

function withEntry([grouping, callType, , outcome]: Parts, entry: number): Parts {
  return [grouping, callType, entry, outcome]
}
