import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { SlotUse } from '../../call/call-reader.ts'
import { versionOf } from '../sqlite/migrate.ts'
import { hoursVersion } from '../migrations/migrations.ts'
import { RowStatements } from '../sqlite/row-statements.ts'

const minutesPerHour = 60

const ofMinutes = `SELECT count(*) AS minutes, max(active_max) AS active, max(queued_max) AS queued,
    sum(at_limit_ms) AS at_limit, min(minute) AS first, max(minute) AS last,
    min(instance_id) AS lowest, max(instance_id) AS highest
  FROM gateway_minutes WHERE minute >= ? AND minute < ?`
const ofHours = `SELECT sum(minutes), max(active_max), max(queued_max), sum(at_limit_ms),
    min(first_minute), max(last_minute), min(lowest_instance_id), max(highest_instance_id)
  FROM gateway_hours WHERE hour >= ? AND hour < ?`

/** Adds up the gateways' minutes over spans of any length: whole hours are there, added up already. */
export class MinuteUse {
  readonly #all: StatementSync
  readonly #hasHours: boolean

  constructor(database: DatabaseSync) {
    // An older database has none until a writer brings it up to date.
    this.#hasHours = versionOf(database) >= hoursVersion
    const parts = this.#hasHours ? [ofMinutes, ofHours, ofMinutes] : [ofMinutes]
    this.#all = new RowStatements(database).get(
      `SELECT coalesce(sum(minutes), 0), coalesce(max(active), 0), coalesce(max(queued), 0), coalesce(sum(at_limit), 0),
        coalesce(min(first), 0), coalesce(max(last), 0), min(lowest) IS max(highest) FROM (${parts.join(' UNION ALL ')})`,
    )
  }

  /** What the minutes from one (inclusive) to the other say, since the Unix epoch. */
  of(fromMinute: number, pastMinute: number): SlotUse {
    const spans = this.#hasHours ? byHours(fromMinute, pastMinute) : [fromMinute, pastMinute]
    const row = this.#all.get(...spans) as unknown as readonly number[]
    const [minutes = 0, activeMax = 0, queuedMax = 0, atLimitMs = 0, firstMinute = 0, lastMinute = 0, isOne] =
      row
    return { minutes, activeMax, queuedMax, atLimitMs, firstMinute, lastMinute, isOne: isOne === 1 }
  }
}

/** Minutes, then whole hours, then minutes: the bounds of each. */
function byHours(fromMinute: number, pastMinute: number): readonly number[] {
  const firstHour = Math.ceil(fromMinute / minutesPerHour)
  const pastHour = Math.floor(pastMinute / minutesPerHour)
  if (firstHour >= pastHour) return [fromMinute, pastMinute, 0, 0, 0, 0]
  return [fromMinute, firstHour * minutesPerHour, firstHour, pastHour, pastHour * minutesPerHour, pastMinute]
}
