import type { RowStatements } from '../sqlite/row-statements.ts'
import { type FigureRow, valueIn } from './call-figures.ts'
import {
  type EntryDimension,
  type Grouping,
  maxKeys,
  noId,
  otherEntryId,
  pairId,
} from './rollup-groupings.ts'
import { numberFrom } from './rollup-state.ts'

type Parts = readonly [grouping: number, callType: number, entry: number, outcome: number]

const entrySources = {
  model: 'model_id',
  client: 'client_id',
  endpoint: 'endpoint_id',
  status: 'status',
  failure_code: 'failure_code_id',
} as const

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
    const name = parts.join(' ')
    const known = this.#ids.get(name)
    if (known !== undefined) return known
    const id = this.#found(parts) ?? this.#added(parts, grouping.entry !== null)
    this.#ids.set(name, id)
    return id
  }

  /** The same, but nothing is made: `noId` if there is no key. */
  knownFor(grouping: Grouping, call: FigureRow): number | null {
    const parts = partsOf(grouping, call)
    if (parts === null) return null
    return this.#found(parts) ?? this.#found(withEntry(parts, otherEntryId)) ?? noId
  }

  #found(parts: Parts): number | null {
    return numberFrom(this.#statements.get(`SELECT id FROM rollup_keys WHERE ${isKey}`), ...parts)
  }

  #added(parts: Parts, mayBeOther: boolean): number {
    const count = this.#statements.get('SELECT count(*) FROM rollup_keys WHERE grouping_id = ?')
    if (mayBeOther && (numberFrom(count, parts[0]) ?? 0) >= this.#limit) {
      const other = withEntry(parts, otherEntryId)
      return this.#found(other) ?? this.#added(other, false)
    }
    const add = this.#statements.get(
      'INSERT INTO rollup_keys (grouping_id, call_type_id, entry_id, outcome_id) VALUES (?, ?, ?, ?)',
    )
    return Number(add.run(...parts).lastInsertRowid)
  }
}

/** `null` if the grouping leaves the call out. */
function partsOf({ id, byType, byOutcome, entry, second }: Grouping, call: FigureRow): Parts | null {
  const entryIn = (dimension: EntryDimension): number | null => valueIn(call, entrySources[dimension])
  const first = entry === null ? noId : entryIn(entry)
  if (first === null && entry === 'failure_code') return null
  const callType = byType ? (valueIn(call, 'call_type_id') ?? 0) : noId
  const outcome = byOutcome ? (valueIn(call, 'outcome_id') ?? 0) : noId
  const entryId = first ?? noId
  return [id, callType, second ? pairId(entryId, entryIn(second) ?? noId) : entryId, outcome]
}

function withEntry([grouping, callType, , outcome]: Parts, entry: number): Parts {
  return [grouping, callType, entry, outcome]
}
