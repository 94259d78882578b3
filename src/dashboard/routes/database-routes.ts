import * as json from '../../options/json-check.ts'
import { trueFalse } from '../../options/value-kind.ts'
import type { JobStarter } from '../../supervisor/jobs.ts'
import { jsonAnswer } from '../http/answer.ts'
import { or } from '../http/query-parameters.ts'
import { type RouteTable, route } from '../http/router.ts'

/** The body of an order to compress. */
const compressFields = json.object({
  keep_days: json.or(json.whole(1, 36_500), 90),
  dry_run: json.or(json.flag, false),
})
const compressOrder = json.described(compressFields.schema, (body) => compressFields(body ?? {}), {
  isOptional: true,
})

/** `/api/db`: the database's file, and jobs on it, which go on when who asked for them leaves. */
export function databaseRoutes(jobs: JobStarter): RouteTable {
  return {
    'GET /api/db': route({}, () => jobs.file()),
    'POST /api/db/compress': route(
      { query: { async: or(trueFalse, false) }, body: compressOrder },
      async ({ query, body: { keep_days: keepDays, dry_run: dryRun } }) => {
        const run = jobs.compress(keepDays, dryRun)
        return query.async ? jsonAnswer(await run.begun, 202) : run.result
      },
    ),
  }
}
