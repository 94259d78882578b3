import type { FastifyInstance } from 'fastify'
import type { JobStarter } from '../../supervisor/database-jobs.ts'
import { trueFalse } from '../../options/value-kind.ts'
import { or } from '../http/query-parameters.ts'
import { addRoutes, route } from '../http/route-table.ts'

const defaultKeepDays = 90

/** JSON schema of what compressing may be told. An absent body counts as null. */
const compressOrder = {
  type: ['object', 'null'],
  properties: {
    keep_days: { type: 'integer', minimum: 1, maximum: 36_500 },
    dry_run: { type: 'boolean' },
  },
  additionalProperties: false,
}

/** A body that {@link compressOrder} lets through. */
interface CompressBody {
  readonly keep_days?: number
  readonly dry_run?: boolean
}

/** `/api/db`: the database's file, and jobs on it, which go on when who asked for them leaves. */
export function addDatabaseRoutes(app: FastifyInstance, jobs: JobStarter): void {
  addRoutes(app, '/api/db', { GET: route({ handle: () => jobs.file() }) })
  addRoutes(app, '/api/db/compress', {
    POST: route({
      query: { async: or(trueFalse, false) },
      body: compressOrder,
      handle: async ({ query, body }, reply) => {
        const { keep_days: keepDays = defaultKeepDays, dry_run: dryRun = false } = (body ??
          {}) as CompressBody
        const run = jobs.compress({ keepDays, dryRun })
        if (!query.async) return run.result
        const job = await run.begun
        return reply.code(202).send(job)
      },
    }),
  })
}
