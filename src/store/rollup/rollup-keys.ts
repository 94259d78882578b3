import { getOrAdd } from '../../lib/get-or-add.ts'
import type { RowStatements } from '../sqlite/row-statements.ts'
import { entryIn, type FigureRow } from './call-figures.ts'
import { type Grouping, maxKeys, noId, otherEntryId, pairId } from './rollup-groupings.ts'

type Parts = readonly [grouping: number, callType: number, entry: number, outcome: number]

const isKey = 'grouping_id = ? AND call_type_id = ? AND entry_id = ? AND outcome_id = ?'

/** The numbers under which the rollups hold what a grouping tells apart. */
export class RollupKeys {
  readonly #statements: RowStatements
  readonly #limit: number
  readonly #ids = new Map<string, number>()

  constructor(statements: RowStatements, limit: number = maxKeys) {
    this.#statements = statements
    this.#limit = limit
  }

  /** The key under which a grouping files a call, which is made if there is none; `null` if it leaves the call out. */
  idFor(grouping: Grouping, call: FigureRow): number | null {
    const parts = partsOf(grouping, call)
    if (parts === null) return null
    const found = (): number => this.#found(parts) ?? this.#added(parts, grouping.entry !== null)
    return getOrAdd(this.#ids, parts.join(' '), found)
  }

  /** The same, but nothing is made: `noId` if there is no key. */
  knownFor(grouping: Grouping, call: FigureRow): number | null {
    const parts = partsOf(grouping, call)
    if (parts === null) return null
    const name = parts.join(' ')
    const found = this.#ids.get(name) ?? this.#found(parts)
    if (found === null) return this.#found(withEntry(parts, otherEntryId)) ?? noId
    this.#ids.set(name, found)
    return found
  }

  #found(parts: Parts): number | null {
    return this.#statements.number(`SELECT id FROM rollup_keys WHERE ${isKey}`, ...parts)
  }

  #added(parts: Parts, mayBeOther: boolean): number {
    const count = 'SELECT count(*) FROM rollup_keys WHERE grouping_id = ?'
    if (mayBeOther && (this.#statements.number(count, parts[0]) ?? 0) >= this.#limit) {
      const other = withEntry(parts, otherEntryId)
      return this.#found(other) ?? this.#added(other, false)
    }
    const columns = '(grouping_id, call_type_id, entry_id, outcome_id)'
    return this.#statements.run(`INSERT INTO rollup_keys ${columns} VALUES (?, ?, ?, ?)`, ...parts)
  }
}

/** `null` if the grouping leaves the call out. */
function partsOf({ id, byType, byOutcome, entry, second }: Grouping, call: FigureRow): Parts | null {
  const first = entry === null ? noId : entryIn(call, entry)
  if (first === null && entry === 'failure_code') return null
  const callType = byType ? (entryIn(call, 'call_type') ?? 0) : noId
  const outcome = byOutcome ? (entryIn(call, 'outcome') ?? 0) : noId
  const entryId = first ?? noId
  return [id, callType, second ? pairId(entryId, entryIn(call, second) ?? noId) : entryId, outcome]
}

function withEntry([grouping, callType, , outcome]: Parts, entry: number): Parts {
  return [grouping, callType, entry, outcome]
}
