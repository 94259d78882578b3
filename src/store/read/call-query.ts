import type { DatabaseSync } from 'node:sqlite'
import { firstIdAt, startedAtMs } from '../../call/call-id.ts'
import type { CallJson } from '../../call/call-record.ts'
import type { StoreReader } from '../../call/call-reader.ts'
import type { CallType } from '../../call/call.ts'
import type { IsOver } from '../../call/no-answer.ts'
import { aggregate } from './call-aggregates.ts'
import { callTypeCodes } from '../../call/fields/call-fields.ts'
import { andSql } from './call-condition.ts'
import { CallList } from './call-list.ts'
import { selectionCondition, selectionOf } from './call-selection.ts'
import { CallDictionary } from './call-dictionary.ts'
import { publicFieldList, publicFields } from '../sqlite/calls-readable.ts'
import { endedWithin } from './ended-calls.ts'
import { SumReader } from './sum-reader.ts'
import { foldedUntil, lastNumber } from '../rollup/unsummed.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { knownModels } from './known-models.ts'
import { historyReader } from './history-reader.ts'
import { inReadTransaction } from '../sqlite/transaction.ts'
import { openForReading, type StoreAbsence } from '../sqlite/open-store.ts'
import { sessionPages } from './session-list.ts'
import { seenClients } from './seen-clients.ts'
import { servedModels } from './served-models.ts'
import { slotUses } from './slot-uses.ts'
import { hourMs, quarterMs } from '../rollup/time-plan.ts'

/** Most new calls that one question of a follower reads, so that a rare filter takes several short questions. */
const followedAtOnce = 50_000

/** SQLite's page cache in KiB: a limit, filled only by reads. */
const cacheKib = 96 * 1024

/** Opens the recorded calls, or returns why there are none to read. */
export function openCallReader(path: string, isOver: IsOver = () => false): StoreReader | StoreAbsence {
  const database = openForReading(path)
  if (typeof database === 'string') return database
  // Questions over months read the same pages of the sums again and again.
  database.exec(`PRAGMA cache_size = -${cacheKib}`)
  return callReader(database, isOver)
}

/** A reader of `database`, which closes it in the end. */
export function callReader(database: DatabaseSync, isOver: IsOver = () => false): StoreReader {
  const words = new CallDictionary(database)
  const statements = new RowStatements(database)
  const pages = new CallList(database, isOver)
  const sessionPage = sessionPages(database, pages, words, isOver)
  const figures = new SumReader(database, isOver)
  const byId = `SELECT\n${publicFieldList}\nFROM calls AS c WHERE c.id = ?`
  const callById = (id: number): readonly CallJson[] =>
    statements.all<readonly unknown[]>(byId, id).map((row) => callOf(row))
  /** The number of questions in the open read transaction. */
  let askers = 0

  const extent = (): { readonly firstMs: number; readonly lastMs: number } | null => {
    const first = statements.number('SELECT min(id) FROM calls')
    const foldedMs = foldedUntil(statements)
    const oldest = 'SELECT min(cell_number) FROM sums WHERE grouping_id = 0 AND minutes = 15'
    const cellNumber = foldedMs === 0 ? null : statements.number(oldest)
    if (first === null && cellNumber === null) return null
    const never = Number.POSITIVE_INFINITY
    const firstMs = Math.min(
      first === null ? never : startedAtMs(first),
      cellNumber === null ? never : cellNumber * quarterMs,
    )
    const last = statements.number('SELECT max(id) FROM calls')
    return { firstMs, lastMs: last === null ? (foldedMs || firstMs) - 1 : startedAtMs(last) }
  }
  const lastSeq = (): number => statements.number('SELECT max(seq) FROM calls') ?? 0

  return {
    history: historyReader(database),
    list: async (filter, page) => {
      const selection = selectionOf(filter, words)
      if (selection === null) return []
      return inReadTransaction(database, () => pages.ids(selection, page).flatMap(callById))
    },
    endedSince: async (afterSeq, filter, limit) => {
      // The last number is read first, so that rows added in between come with the next question.
      const newest = Math.min(lastSeq(), afterSeq + followedAtOnce)
      const selection = selectionOf(filter, words)
      if (selection === null) return { calls: [], lastSeq: Math.max(newest, afterSeq) }
      const condition = selectionCondition(selection)
      const sql = `SELECT\n${publicFieldList}, c.seq\nFROM calls AS c INDEXED BY calls_by_seq
        WHERE c.seq > ? AND c.seq <= ? AND c.id >= ? AND c.id < ?${andSql(condition)} ORDER BY c.seq LIMIT ?`
      const ids = [selection.fromId, selection.pastId]
      const values = [afterSeq, newest, ...ids, ...condition.values, limit]
      const rows = statements.all<readonly unknown[]>(sql, ...values)
      const reached = rows.length === limit ? Number(rows.at(-1)?.at(-1) ?? newest) : newest
      return { calls: rows.map(callOf), lastSeq: Math.max(reached, afterSeq) }
    },
    sessions: async (filter, page) => inReadTransaction(database, () => sessionPage(filter, page)),
    call: async (id) => callById(id)[0] ?? null,
    aggregate: async (question) => aggregate(question, figures, words),
    choices: async () => ({
      models: knownModels(statements),
      types: extent() === null ? [] : (Object.keys(callTypeCodes) as CallType[]).sort(),
    }),
    extent: async () => extent(),
    foldedUntilMs: async () => foldedUntil(statements) || null,
    lastSeq: async () => lastNumber(statements),
    growth: async (fromMs) => {
      const last = lastSeq()
      const first = statements.number('SELECT min(seq) FROM calls') ?? last + 1
      const recentSql = 'SELECT id FROM calls WHERE id >= ? ORDER BY id LIMIT 1'
      const firstMs = startedAtMs(statements.number(recentSql, firstIdAt(fromMs)) ?? 0)
      // The numbers would not tell recent calls from old ones that were imported or copied.
      const edgesMs = [Math.max(fromMs, Math.floor(firstMs / hourMs) * hourMs), (extent()?.lastMs ?? 0) + 1]
      const question = { filter: {}, edgesMs, dimension: null, isSumsOnly: true } as const
      const recent = firstMs === 0 ? 0 : aggregate(question, figures, words).summary.calls
      return { calls: last + 1 - first, ever: last, recent, firstMs }
    },
    servedModels: async (fromMs, toMs, withinMs) =>
      servedModels(statements, words, isOver, { fromMs, toMs, withinMs }),
    seenClients: async (fromMs, toMs, withinMs) =>
      seenClients(statements, words, isOver, { fromMs, toMs, withinMs }),
    slotUses: async (bounds) => slotUses(statements, isOver, bounds),
    endedWithin: async (bounds) => endedWithin(statements, words, isOver, bounds),
    inReadTransaction: async (ask) => {
      if (askers === 0) database.exec('BEGIN')
      askers++
      try {
        return await ask()
      } finally {
        if (--askers === 0) database.exec('COMMIT')
      }
    },
    close: () => {
      if (database.isOpen) database.close()
    },
  }
}

const fieldNames = publicFields.map(({ name }) => name)

/** Converts a row of public fields; further columns may follow them. SQLite has no booleans. */
function callOf(row: readonly unknown[]): CallJson {
  const call: Record<string, unknown> = {}
  // Reading arrays takes a quarter of the time of reading rows as objects.
  for (let at = 0; at < fieldNames.length; at++) call[fieldNames[at] ?? ''] = row[at]
  return Object.assign(call, {
    stream: call['stream'] === 1,
    failed: call['failed'] === 1,
  }) as unknown as CallJson
}
