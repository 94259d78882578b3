import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { firstIdAt, startedAtMs } from '../../call/call-id.ts'
import type { CallPage, CallSort } from '../../call/call-reader.ts'
import { type IsOver, QueryTooSlowError } from '../../call/no-answer.ts'
import { andSql, type CallCondition } from './call-condition.ts'
import { firstFailedOutcome } from '../../call/fields/call-fields.ts'
import { callHours } from './call-hours.ts'
import { type CallSelection, selectionCondition } from './call-selection.ts'
import { failedSql } from '../../call/fields/shown-sql.ts'
import { idSlices, idsWithCalls } from './id-slices.ts'
import { hourMs } from '../rollup/time-plan.ts'
import { RowStatements } from '../sqlite/row-statements.ts'

/** Most calls in a range for which a model is searched by its index. With more, reading all calls is quicker. */
const fewOfModel = 100_000

const sortColumns: Readonly<Record<CallSort, string>> = {
  started_at: 'id',
  duration: 'duration_us',
  ttft: 'ttft_us',
  cost: 'cost_nano_usd',
}

/** Finds the ids that a page of a list shows. */
export class CallList {
  readonly #isOver: IsOver
  readonly #hoursPassing: ReturnType<typeof callHours>
  readonly #statements: RowStatements

  constructor(database: DatabaseSync, isOver: IsOver) {
    this.#statements = new RowStatements(database)
    this.#isOver = isOver
    this.#hoursPassing = callHours(database)
  }

  /** The ids in the order of the page. */
  ids(selection: CallSelection, page: CallPage): readonly number[] {
    const { fromId, pastId } = selection
    const range = idsWithCalls(this.#statements, fromId, Math.min(pastId, page.beforeId ?? pastId))
    const condition = selectionCondition(selection)
    if (range[0] >= range[1] || page.limit < 1) return []
    const { sort = 'started_at', rising = false, limit } = page
    if (sort !== 'started_at' || rising) {
      const index = selection.index === undefined ? 'NOT INDEXED' : `INDEXED BY ${selection.index}`
      return this.#ranked(index, condition, range, { column: sortColumns[sort], rising, limit })
    }
    if (condition.conditions.length === 0) return this.#newest('NOT INDEXED', condition, range, page.limit)
    if (selection.index !== undefined)
      return this.#newest(`INDEXED BY ${selection.index}`, condition, range, page.limit)
    const isRare = this.#isRareModel(selection, range)
    const index = isRare ? 'INDEXED BY calls_by_model' : indexOf(selection)
    const hours = isRare ? null : this.#hoursOf(selection, range)
    const ids: number[] = []
    for (const piece of hours ?? idSlices(...range, { newestFirst: true, isOver: this.#isOver })) {
      ids.push(...this.#newest(index, condition, piece, page.limit - ids.length))
      if (ids.length === page.limit) break
    }
    return ids
  }

  /** Each session with a call of a selection, and the id of the last of these calls. */
  sessions(selection: CallSelection): ReadonlyMap<number, number> {
    const range = idsWithCalls(this.#statements, selection.fromId, selection.pastId)
    const condition = selectionCondition(selection)
    const index = selection.index === undefined ? indexOf(selection) : `INDEXED BY ${selection.index}`
    const sql = `SELECT c.session_id, max(c.id) FROM calls AS c ${index}
      WHERE c.id >= ? AND c.id < ? AND c.session_id IS NOT NULL${inIndex(index)}${andSql(condition)}
      GROUP BY c.session_id`
    const lasts = new Map<number, number>()
    for (const piece of idSlices(...range, { isOver: this.#isOver }))
      for (const [session, id] of this.#statements.all<Range>(sql, ...piece, ...condition.values))
        lasts.set(session, id)
    return lasts
  }

  /** True if all calls are of one model that has few of them. */
  #isRareModel({ ids }: CallSelection, range: Range): boolean {
    const [model, ...others] = ids.model ?? []
    if (model === undefined || others.length > 0) return false
    const more = `SELECT 1 FROM calls INDEXED BY calls_by_model WHERE model_id = ? AND id >= ? AND id < ?
      LIMIT 1 OFFSET ${fewOfModel}`
    return this.#statements.number(more, model, ...range) === null
  }

  #newest(index: string, condition: CallCondition, range: Range, limit: number): readonly number[] {
    return this.#ids(
      `SELECT c.id FROM calls AS c ${index} WHERE c.id >= ? AND c.id < ?${inIndex(index)}${andSql(condition)}
        ORDER BY c.id DESC LIMIT ?`,
      [...range, ...condition.values, limit],
    )
  }

  /** The hours that can have calls of a selection, the newest first; `null` if the sums do not help. */
  #hoursOf(selection: CallSelection, [fromId, pastId]: Range): Iterable<Range> | null {
    const first = Math.floor(startedAtMs(fromId) / hourMs)
    const past = Math.floor(startedAtMs(pastId - 1) / hourMs) + 1
    const hours = this.#hoursPassing(selection.ids, first, past)
    if (hours === null) return null
    return Iterator.from(hours).map((hour): Range => {
      if (this.#isOver()) throw new QueryTooSlowError()
      const [from, to] = [firstIdAt(hour * hourMs), firstIdAt((hour + 1) * hourMs)]
      return [Math.max(fromId, from), Math.min(pastId, to)]
    })
  }

  #ranked(
    index: string,
    condition: CallCondition,
    range: Range,
    { column, rising, limit }: Ranking,
  ): readonly number[] {
    const [isBetter, order] = rising ? ['<=', 'ASC'] : ['>=', 'DESC']
    const sql = `SELECT c.id, c.${column} FROM calls AS c ${index}
      WHERE c.id >= ? AND c.id < ? AND c.${column} ${isBetter} ?${andSql(condition)}
      ORDER BY c.${column} ${order}, c.id DESC LIMIT ?`
    const sign = rising ? 1 : -1
    let best: (readonly [id: number, value: number])[] = []
    for (const [fromId, pastId] of idSlices(...range, { isOver: this.#isOver })) {
      const worst = best.length < limit ? sign * Number.MAX_SAFE_INTEGER : (best.at(-1)?.[1] ?? 0)
      const values = [fromId, pastId, worst, ...condition.values, limit]
      best = [...best, ...this.#statements.all<(typeof best)[number]>(sql, ...values)]
        .sort(([a, rankA], [b, rankB]) => sign * (rankA - rankB) || b - a)
        .slice(0, limit)
    }
    return best.map(([id]) => id)
  }

  #ids(sql: string, values: readonly SQLInputValue[]): readonly number[] {
    return this.#statements.all<readonly [number]>(sql, ...values).map(([id]) => id)
  }
}

type Range = readonly [fromId: number, pastId: number]

interface Ranking {
  readonly column: string
  readonly rising: boolean
  readonly limit: number
}

function indexOf(selection: CallSelection): string {
  if (areFailed(selection)) return 'INDEXED BY calls_failed'
  return selection.isInSession === true ? 'INDEXED BY calls_in_sessions' : 'NOT INDEXED'
}

/** The condition of a partial index: SQLite needs it to use the index. */
function inIndex(index: string): string {
  return index === 'INDEXED BY calls_failed' ? ` AND ${failedSql}` : ''
}

function areFailed({ ids }: CallSelection): boolean {
  return ids.outcome !== undefined && [...ids.outcome].every((outcome) => outcome >= firstFailedOutcome)
}
