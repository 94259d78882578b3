import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { MinuteUse, type SlotUse } from '../write/minute-use.ts'
import { openForReading, type StoreAbsence } from '../sqlite/open-store.ts'

const minuteMs = 60_000

/** From the first minute (inclusive) to the second, since the Unix epoch. */
export type MinuteSpan = readonly [fromMinute: number, pastMinute: number]

/** A limit of calls in flight, from the instant on at which a gateway began to hold it. */
export interface PastLimit {
  readonly atMs: number
  /** Null where the gateway that began then did not note it. */
  readonly maxConcurrent: number | null
}

/** An entry of the gateways' own history. */
export interface PastEvent {
  readonly atMs: number
  readonly instance: string
  readonly kind: string
  readonly detail: string | null
}

/** Answers what gateways noted of themselves. */
export interface PastReader {
  /** For each bucket from one edge to the next; a minute counts where it begins. */
  slotUse(edgesMs: readonly number[]): readonly SlotUse[]
  /** The spans between two minutes of the range in which a gateway ran, in which none did. */
  missingMinutes(span: MinuteSpan): readonly MinuteSpan[]
  /** Whether any gateway ran before that minute. */
  ranBefore(minute: number): boolean
  /** Limits that were set within the range, oldest first, after the one that held at its start. */
  limits(fromMs: number, toMs: number): readonly PastLimit[]
  /** The last ones of the range, oldest first. */
  events(fromMs: number, toMs: number, limit: number): readonly PastEvent[]
}

/** The same, as long as it is open. */
export interface HistoryReader extends PastReader {
  close(): void
}

/** Opens the gateways' history, or says why there is none to read. */
export function openHistoryReader(path: string): HistoryReader | StoreAbsence {
  const database = openForReading(path)
  return typeof database === 'string' ? database : new SqliteHistoryReader(database)
}

class SqliteHistoryReader implements HistoryReader {
  readonly #database: DatabaseSync
  readonly #use: MinuteUse
  readonly #events: StatementSync
  readonly #missing: StatementSync
  readonly #ranBefore: StatementSync
  readonly #limits: StatementSync

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#use = new MinuteUse(database)
    this.#missing = database.prepare(
      `SELECT before + 1 AS first, minute AS past FROM (
          SELECT minute, lag(minute) OVER (ORDER BY minute) AS before FROM gateway_minutes WHERE minute >= ? AND minute < ?
        ) WHERE minute - before > 1 ORDER BY minute`,
    )
    this.#ranBefore = database.prepare('SELECT 1 FROM gateway_minutes WHERE minute < ? LIMIT 1')
    const limit = "CASE WHEN json_valid(detail) THEN detail ->> '$.max_concurrent' END"
    const isLimit = `(kind = 'start' OR (kind = 'config' AND ${limit} IS NOT NULL))`
    this.#limits = database.prepare(
      `SELECT at_ms, ${limit} AS most FROM gateway_events WHERE ${isLimit} AND at_ms < ?2 AND at_ms >= coalesce(
          (SELECT at_ms FROM gateway_events WHERE ${isLimit} AND at_ms <= ?1 ORDER BY at_ms DESC LIMIT 1), ?1
        ) ORDER BY at_ms`,
    )
    this.#events = database.prepare(
      `SELECT e.at_ms, i.text AS instance, e.kind, e.detail FROM gateway_events AS e
        JOIN instances AS i ON i.id = e.instance_id
        WHERE e.at_ms >= ? AND e.at_ms < ? ORDER BY e.at_ms DESC, e.instance_id DESC, e.kind DESC LIMIT ?`,
    )
  }

  slotUse(edgesMs: readonly number[]): readonly SlotUse[] {
    const minutes = edgesMs.map((edge) => Math.ceil(edge / minuteMs))
    return minutes.slice(1).map((past, index) => this.#use.of(minutes[index] ?? 0, past))
  }

  missingMinutes([fromMinute, pastMinute]: MinuteSpan): readonly MinuteSpan[] {
    return this.#missing
      .all(fromMinute, pastMinute)
      .map((row) => [Number(row['first']), Number(row['past'])] as const)
  }

  ranBefore(minute: number): boolean {
    return this.#ranBefore.get(minute) !== undefined
  }

  limits(fromMs: number, toMs: number): readonly PastLimit[] {
    return this.#limits.all(Math.ceil(fromMs), Math.ceil(toMs)).map((row) => ({
      atMs: Number(row['at_ms']),
      maxConcurrent: typeof row['most'] === 'number' ? row['most'] : null,
    }))
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
