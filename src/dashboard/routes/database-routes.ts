import type { DatabaseSize } from '../../api/database-job.ts'
import * as v from 'valibot'
import type { Growth } from '../../call/call-reader.ts'
import type { Clock } from '../../call/clock.ts'
import { object, integer } from '../../options/schema.ts'
import { trueFalse } from '../../options/value-kind.ts'
import { or } from '../http/query-parameters.ts'
import { type RouteTable, jsonAnswer, route } from '../http/app.ts'
import type { DashboardDeps } from './dashboard-deps.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** The growth is computed from the calls of these days. */
const growthDays = 7
/** Bytes of a call and its share of the sums, at 11,000 calls a day (docs/store.md). */
const usualCallBytes = 480
/** Most days before today that a request may name. */
const farDays = 36_500

/** The body of a request to compress. */
const compressOrder = v.nullish(
  object({ keep_days: v.optional(integer(1, 36_500), 90), dry_run: v.optional(v.boolean(), false) }),
  {},
)

/** `/api/db`: the database file, and jobs on it. A job runs on when its requester leaves. */
export function databaseRoutes(
  { jobs, queries }: Pick<DashboardDeps, 'jobs' | 'queries'>,
  clock: Pick<Clock, 'wallTime'>,
): RouteTable {
  const size = async (): Promise<DatabaseSize> => {
    const file = jobs.file()
    const { bytes, disk_free_bytes: freeBytes } = file
    const unknown = { ...file, growth_bytes_per_day: null, disk_full_at: null }
    if (bytes === null) return unknown
    const nowMs = clock.wallTime()
    // Cut to the hour, so that requests within it share the answer.
    const fromMs = Math.floor(nowMs / hourMs) * hourMs - growthDays * dayMs
    const outcome = await queries.ask({ kind: 'growth', fromMs })
    // Size and free space are known even if the calls cannot be read.
    if (outcome.kind !== 'answer') return unknown
    const { calls, ever, recent, firstMs } = JSON.parse(Buffer.from(outcome.body).toString()) as Growth
    if (recent === 0 || nowMs - firstMs < hourMs) return unknown
    // A new call's size does not include the sums of folded calls.
    const callBytes = Math.min(bytes / calls, Math.max(usualCallBytes, bytes / ever))
    const perDay = callBytes * (recent / ((nowMs - firstMs) / dayMs))
    const daysLeft = freeBytes === null ? farDays : freeBytes / perDay
    const fullAt = daysLeft < farDays ? new Date(nowMs + daysLeft * dayMs).toISOString() : null
    return { ...file, growth_bytes_per_day: Math.round(perDay), disk_full_at: fullAt }
  }
  return {
    /** The database's file. */
    'GET /api/db': route({ answer: 'DatabaseSize' }, size),
    /**
     * Folds old calls into sums and shrinks the file. With `async=1`, answers 202 when the job has begun.
     * @fails job_running no_database job_failed
     */
    'POST /api/db/compress': route(
      {
        answer: { 200: 'CompressResult', 202: 'DatabaseJob' },
        query: { async: or(trueFalse, false) },
        body: compressOrder,
      },
      async (c, { query, body: { keep_days: keepDays, dry_run: dryRun } }) => {
        const run = jobs.compress(keepDays, dryRun)
        return query.async ? jsonAnswer(c, await run.begun, 202) : run.result
      },
    ),
  }
}
