import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { HistoryReader, MinuteSpan, PastEvent, PastLimit, SlotUse } from '../../call/call-reader.ts'
import { MinuteUse } from './minute-use.ts'

const minuteMs = 60_000

/** Answers what gateways noted of themselves. */
export class SqliteHistoryReader implements HistoryReader {
  readonly #use: MinuteUse
  readonly #events: StatementSync
  readonly #missing: StatementSync
  readonly #ranBefore: StatementSync
  readonly #limits: StatementSync

  constructor(database: DatabaseSync) {
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

  async slotUse(edgesMs: readonly number[]): Promise<readonly SlotUse[]> {
    const minutes = edgesMs.map((edge) => Math.ceil(edge / minuteMs))
    return minutes.slice(1).map((past, index) => this.#use.of(minutes[index] ?? 0, past))
  }

  async missingMinutes([fromMinute, pastMinute]: MinuteSpan): Promise<readonly MinuteSpan[]> {
    return this.#missing
      .all(fromMinute, pastMinute)
      .map((row) => [Number(row['first']), Number(row['past'])] as const)
  }

  async ranBefore(minute: number): Promise<boolean> {
    return this.#ranBefore.get(minute) !== undefined
  }

  async limits(fromMs: number, toMs: number): Promise<readonly PastLimit[]> {
    return this.#limits.all(Math.ceil(fromMs), Math.ceil(toMs)).map((row) => ({
      atMs: Number(row['at_ms']),
      maxConcurrent: typeof row['most'] === 'number' ? row['most'] : null,
    }))
  }

  async events(fromMs: number, toMs: number, limit: number): Promise<readonly PastEvent[]> {
    const rows = this.#events.all(Math.ceil(fromMs), Math.ceil(toMs), limit)
    return rows.reverse().map((row) => ({
      atMs: Number(row['at_ms']),
      instance: String(row['instance']),
      kind: String(row['kind']),
      detail: row['detail'] === null ? null : String(row['detail']),
    }))
  }
}
