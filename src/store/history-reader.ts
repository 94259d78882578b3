import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { openForReading, type StoreAbsence } from './open-store.ts'

const minuteMs = 60_000

/** What the gateways' minutes say of one bucket of time; all but `minutes` mean nothing where that is 0. */
export interface SlotUse {
  /** Minutes in which a gateway ran, each gateway's own. */
  readonly minutes: number
  readonly activeMax: number
  readonly queuedMax: number
  readonly atLimitMs: number
}

/** An entry of the gateways' own history. */
export interface PastEvent {
  readonly atMs: number
  readonly instance: string
  readonly kind: string
  readonly detail: string | null
}

/** Reads what gateways noted of themselves. */
export interface HistoryReader {
  /** For each bucket from one edge to the next; a minute counts where it begins. */
  slotUse(edgesMs: readonly number[]): readonly SlotUse[]
  /** The last ones of the range, oldest first. */
  events(fromMs: number, toMs: number, limit: number): readonly PastEvent[]
  close(): void
}

/** Opens the gateways' history, or says why there is none to read. */
export function openHistoryReader(path: string): HistoryReader | StoreAbsence {
  const database = openForReading(path)
  return typeof database === 'string' ? database : new SqliteHistoryReader(database)
}

class SqliteHistoryReader implements HistoryReader {
  readonly #database: DatabaseSync
  readonly #slotUse: StatementSync
  readonly #events: StatementSync

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#slotUse = database.prepare(
      `SELECT count(*) AS minutes, coalesce(max(active_max), 0) AS active, coalesce(max(queued_max), 0) AS queued,
        coalesce(sum(at_limit_ms), 0) AS at_limit FROM gateway_minutes WHERE minute >= ? AND minute < ?`,
    )
    this.#events = database.prepare(
      `SELECT e.at_ms, i.text AS instance, e.kind, e.detail FROM gateway_events AS e
        JOIN instances AS i ON i.id = e.instance_id
        WHERE e.at_ms >= ? AND e.at_ms < ? ORDER BY e.at_ms DESC, e.instance_id DESC, e.kind DESC LIMIT ?`,
    )
  }

  slotUse(edgesMs: readonly number[]): readonly SlotUse[] {
    const minutes = edgesMs.map((edge) => Math.ceil(edge / minuteMs))
    return minutes.slice(1).map((past, index) => {
      const row = this.#slotUse.get(minutes[index] ?? 0, past)
      return {
        minutes: Number(row?.['minutes']),
        activeMax: Number(row?.['active']),
        queuedMax: Number(row?.['queued']),
        atLimitMs: Number(row?.['at_limit']),
      }
    })
  }

  events(fromMs: number, toMs: number, limit: number): readonly PastEvent[] {
    const rows = this.#events.all(Math.ceil(fromMs), Math.ceil(toMs), limit)
    return rows.reverse().map((row) => ({
      atMs: Number(row['at_ms']),
      instance: String(row['instance']),
      kind: String(row['kind']),
      detail: row['detail'] === null ? null : String(row['detail']),
    }))
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close()
  }
}
