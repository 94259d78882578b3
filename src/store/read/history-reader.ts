import type { DatabaseSync } from 'node:sqlite'
import type { HistoryReader, MinuteSpan, SlotUse } from '../../call/call-reader.ts'
import { RowStatements } from '../sqlite/row-statements.ts'

const minuteMs = 60_000
const minutesPerHour = 60

const ofMinutes = `SELECT count(*) AS minutes, max(active_max) AS active, max(queued_max) AS queued,
    sum(at_limit_ms) AS at_limit, min(minute) AS first, max(minute) AS last,
    min(instance_id) AS lowest, max(instance_id) AS highest
  FROM gateway_minutes WHERE minute >= ? AND minute < ?`
const ofHours = `SELECT sum(minutes), max(active_max), max(queued_max), sum(at_limit_ms),
    min(first_minute), max(last_minute), min(lowest_instance_id), max(highest_instance_id)
  FROM gateway_hours WHERE hour >= ? AND hour < ?`
const use = `SELECT coalesce(sum(minutes), 0), coalesce(max(active), 0), coalesce(max(queued), 0), coalesce(sum(at_limit), 0),
    coalesce(min(first), 0), coalesce(max(last), 0), min(lowest) IS max(highest)
  FROM (${ofMinutes} UNION ALL ${ofHours} UNION ALL ${ofMinutes})`

const missing = `SELECT before + 1, minute FROM (
    SELECT minute, lag(minute) OVER (ORDER BY minute) AS before FROM gateway_minutes WHERE minute >= ? AND minute < ?
  ) WHERE minute - before > 1 ORDER BY minute`

const limit = "CASE WHEN json_valid(detail) THEN detail ->> '$.max_concurrent' END"
const isLimit = `(kind = 'start' OR (kind = 'config' AND ${limit} IS NOT NULL))`
const limits = `SELECT at_ms, ${limit} FROM gateway_events WHERE ${isLimit} AND at_ms < ?2 AND at_ms >= coalesce(
    (SELECT at_ms FROM gateway_events WHERE ${isLimit} AND at_ms <= ?1 ORDER BY at_ms DESC LIMIT 1), ?1
  ) ORDER BY at_ms`

const events = `SELECT e.at_ms, i.text, e.kind, e.detail FROM gateway_events AS e
    JOIN instances AS i ON i.id = e.instance_id
    WHERE e.at_ms >= ? AND e.at_ms < ? ORDER BY e.at_ms DESC, e.instance_id DESC, e.kind DESC LIMIT ?`

const budget = `SELECT total(tokens) FROM (
    SELECT tokens FROM budget_minutes WHERE minute >= ?1 AND minute < ?2
    UNION ALL SELECT tokens FROM budget_estimates WHERE minute >= ?1 AND minute < ?2)`

/** Answers questions about the minutes and events that gateways have recorded. */
export function historyReader(database: DatabaseSync): HistoryReader {
  const statements = new RowStatements(database)
  const useWithin = (fromMinute: number, pastMinute: number): SlotUse => {
    const spans = byHours(fromMinute, pastMinute)
    const [minutes = 0, activeMax = 0, queuedMax = 0, atLimitMs = 0, firstMinute = 0, lastMinute = 0, isOne] =
      statements.first<readonly number[]>(use, ...spans) ?? []
    return { minutes, activeMax, queuedMax, atLimitMs, firstMinute, lastMinute, isOne: isOne === 1 }
  }
  return {
    slotUse: async (edgesMs) => {
      const minutes = edgesMs.map((edge) => Math.ceil(edge / minuteMs))
      return minutes.slice(1).map((past, index) => useWithin(minutes[index] ?? 0, past))
    },
    missingMinutes: async (span) => statements.all<MinuteSpan>(missing, ...span),
    ranBefore: async (minute) =>
      statements.first('SELECT 1 FROM gateway_minutes WHERE minute < ? LIMIT 1', minute) !== undefined,
    limits: async (fromMs, toMs) =>
      statements
        .all<readonly [number, unknown]>(limits, Math.ceil(fromMs), Math.ceil(toMs))
        .map(([atMs, most]) => ({ atMs, maxConcurrent: typeof most === 'number' ? most : null })),
    budgetTokens: async (edgesMs) => {
      const minutes = edgesMs.map((edge) => Math.floor(edge / minuteMs))
      return minutes.slice(1).map((past, index) => statements.number(budget, minutes[index] ?? 0, past) ?? 0)
    },
    events: async (fromMs, toMs, most) =>
      statements
        .all<readonly [number, string, string, string | null]>(
          events,
          Math.ceil(fromMs),
          Math.ceil(toMs),
          most,
        )
        .map(([atMs, instance, kind, detail]) => ({ atMs, instance, kind, detail }))
        .reverse(),
  }
}

/** Splits a range into minutes, whole hours (whose sums exist), and minutes: the bounds of each. */
function byHours(fromMinute: number, pastMinute: number): readonly number[] {
  const firstHour = Math.ceil(fromMinute / minutesPerHour)
  const pastHour = Math.floor(pastMinute / minutesPerHour)
  if (firstHour >= pastHour) return [fromMinute, pastMinute, 0, 0, 0, 0]
  return [fromMinute, firstHour * minutesPerHour, firstHour, pastHour, pastHour * minutesPerHour, pastMinute]
}
