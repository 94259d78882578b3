import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { inTransaction } from '../sqlite/transaction.ts'
import type { GatewayEvent, GatewayMinute, MinuteUsage } from '../../call/call-sink.ts'

/** Who writes: a row of `instances`. */
export interface WriterIdentity {
  readonly instance: string
  readonly version: string
}

/** Writes an instance's own history and answers for the budget's. Idempotent: a minute's last word wins. */
export class HistoryWriter {
  readonly #database: DatabaseSync
  readonly #addMinute: StatementSync
  readonly #addEvent: StatementSync
  readonly #usage: StatementSync

  constructor(database: DatabaseSync, identity: WriterIdentity) {
    this.#database = database
    const { instance, version } = identity
    const upsert =
      'INSERT INTO instances (text, version) VALUES (?, ?) ON CONFLICT (text) DO UPDATE SET version = excluded.version RETURNING id'
    const instanceId = Number(database.prepare(upsert).get(instance, version)?.['id'])
    this.#addMinute = database.prepare(
      `INSERT INTO gateway_minutes VALUES (?, ${instanceId}, ?, ?, ?, ?, ?)
        ON CONFLICT (minute, instance_id) DO UPDATE SET active_max = excluded.active_max,
        queued_max = excluded.queued_max, at_limit_ms = excluded.at_limit_ms,
        admitted = excluded.admitted, dropped = excluded.dropped`,
    )
    this.#addEvent = database.prepare(
      `INSERT INTO gateway_events VALUES (?, ${instanceId}, ?, ?) ON CONFLICT DO NOTHING`,
    )
    this.#usage = database.prepare(
      `SELECT minute, sum(tokens) AS tokens, sum(estimated) AS estimated FROM (
          SELECT minute, tokens, 0 AS estimated FROM budget_minutes WHERE minute >= ?1
          UNION ALL SELECT minute, tokens, tokens FROM budget_estimates WHERE minute >= ?1
        ) GROUP BY minute ORDER BY minute`,
    )
  }

  write(minutes: readonly GatewayMinute[], events: readonly GatewayEvent[]): void {
    if (minutes.length === 0 && events.length === 0) return
    inTransaction(this.#database, () => {
      for (const { minute, activeMax, queuedMax, atLimitMs, admitted, dropped } of minutes) {
        this.#addMinute.run(minute, activeMax, queuedMax, Math.round(atLimitMs), admitted, dropped)
      }
      for (const { atMs, kind, detail } of events) this.#addEvent.run(Math.round(atMs), kind, detail)
    })
  }

  usageByMinute(fromMinute: number): readonly MinuteUsage[] {
    return this.#usage.all(fromMinute).map((row) => ({
      minute: Number(row['minute']),
      tokens: Number(row['tokens']),
      estimated: Number(row['estimated']),
    }))
  }
}
