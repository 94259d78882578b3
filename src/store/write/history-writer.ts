import type { DatabaseSync } from 'node:sqlite'
import type { GatewayEvent, GatewayMinute, MinuteUsage } from '../../call/call-sink.ts'
import { firstIdAt } from '../../call/call-id.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { ownInstances, recentCalls, usageOfClients } from './client-usage.ts'
import { inTransaction } from '../sqlite/transaction.ts'
import type { OpenRows } from './open-calls.ts'
import type { UsageQuestion } from './writer-messages.ts'

/** The writing instance: a row of `instances`. */
export interface WriterIdentity {
  readonly instance: string
  readonly version: string
  /** The instance number whose lock the writer holds. Without one, no open calls are noted. */
  readonly number?: number | null
}

const addMinute = `INSERT INTO gateway_minutes VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (minute, instance_id) DO UPDATE SET active_max = excluded.active_max,
  queued_max = excluded.queued_max, at_limit_ms = excluded.at_limit_ms,
  admitted = excluded.admitted, dropped = excluded.dropped`
const addOpen = 'INSERT INTO open_calls VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING'
const addEvent = 'INSERT INTO gateway_events VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING'
/** An instant (ms since the Unix epoch) later than all calls. */
const everMs = 2 ** 41
const usage = `SELECT minute, total(tokens), total(estimated) FROM (
    SELECT minute, tokens, 0 AS estimated FROM budget_minutes WHERE minute >= ?1
    UNION ALL SELECT minute, tokens, tokens FROM budget_estimates WHERE minute >= ?1
    UNION ALL SELECT ((id >> 12) * 1000 + coalesce(duration_us, 0)) / 60000000,
      -coalesce(input_tokens, 0) - coalesce(output_tokens, 0), 0 FROM calls
      WHERE id >= ?2 AND source_id IS NULL AND instance_id IN (${ownInstances})
  ) GROUP BY minute ORDER BY minute`

/** Writes an instance's own history, and answers questions of the budget. Idempotent: later figures of a minute replace earlier ones. */
export class HistoryWriter {
  readonly #statements: RowStatements
  readonly #instanceId: number | null
  readonly #number: number | null

  constructor(database: DatabaseSync, { instance, version, number = null }: WriterIdentity) {
    this.#statements = new RowStatements(database)
    this.#number = number
    const upsert =
      'INSERT INTO instances (text, version) VALUES (?, ?) ON CONFLICT (text) DO UPDATE SET version = excluded.version RETURNING id'
    this.#instanceId = this.#statements.number(upsert, instance, version)
  }

  /** `opened` are calls that stay in `open_calls` until `CallWriter` writes their rows. */
  write(minutes: readonly GatewayMinute[], events: readonly GatewayEvent[], opened: OpenRows = []): void {
    if (minutes.length + events.length + opened.length === 0) return
    inTransaction(this.#statements.database, () => {
      for (const [id, call] of opened) this.#statements.run(addOpen, id, this.#instanceId, this.#number, call)
      for (const { minute, activeMax, queuedMax, atLimitMs, admitted, dropped } of minutes) {
        const figures = [activeMax, queuedMax, Math.round(atLimitMs), admitted, dropped]
        this.#statements.run(addMinute, minute, this.#instanceId, ...figures)
      }
      for (const { atMs, kind, detail } of events) {
        this.#statements.run(addEvent, Math.round(atMs), this.#instanceId, kind, detail)
      }
    })
  }

  /** Tokens of all calls that began before an instant, and estimates of later calls. */
  usage(about: UsageQuestion): readonly MinuteUsage[] {
    if ('sentSinceMs' in about) return recentCalls(this.#statements, about.sentSinceMs)
    if ('of' in about) return usageOfClients(this.#statements, about)
    const { fromMinute, sinceMs = everMs } = about
    return this.#statements
      .all<readonly [number, number, number]>(usage, fromMinute, firstIdAt(sinceMs))
      .map(([minute, tokens, estimated]) => ({ minute, tokens, estimated }))
  }
}
