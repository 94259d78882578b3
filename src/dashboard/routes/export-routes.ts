import { type ExportFormat, exportFormats } from '../../api/database-job.ts'
import type { CallFilter } from '../../call/call-filter.ts'
import { oneOf } from '../../options/value-kind.ts'
import type { JobStarter } from '../../supervisor/jobs.ts'
import { or } from '../http/query-parameters.ts'
import { type RouteTable, expectOwnConnection, route, sendStream } from '../http/app.ts'
import { contentTypes } from './query-reply.ts'
import { filterOf, overviewTable } from './query-request.ts'

const types = { ...contentTypes, parquet: 'application/vnd.apache.parquet' }

/** A reader that reads nothing for this time is disconnected. */
const stallMs = 120_000
/** File systems allow names of 255 bytes. */
const mostNameLength = 150

const exportTable = {
  ...overviewTable,
  format: or<ExportFormat>(oneOf(exportFormats), 'csv'),
}

/** The name of the file, after its calls: `tokenweir-calls_gpt-5_failed_2026-11-20_2026-11-27.csv`. */
function fileName({ model, client, failedOnly, fromMs, toMs }: CallFilter, format: ExportFormat): string {
  const days = [fromMs, toMs].flatMap((ms) =>
    ms === undefined ? [] : new Date(ms).toISOString().slice(0, 10),
  )
  const parts = [...(model ?? []), ...(client ?? []), ...(failedOnly === true ? ['failed'] : []), ...days]
  // Names from people and upstreams may contain any character.
  const words = parts.map((part) => part.replaceAll(/[^\w.-]+/g, '-')).join('_')
  return `tokenweir-calls${words === '' ? '' : `_${words.slice(0, mostNameLength)}`}.${format}`
}

/**
 * `/api/export`: all calls of a filter as a file. After an error the connection breaks, so that an incomplete
 * file is noticed.
 */
export function exportRoutes(jobs: Pick<JobStarter, 'export'>): RouteTable {
  return {
    /** All calls of the filter as a file, newest first. After an error the connection breaks, so the file is visibly incomplete. @fails job_running no_database job_failed pipelined_stream */
    'GET /api/export': route(
      {
        answer: {
          '200 text/csv': null,
          '200 application/x-ndjson': null,
          '200 application/vnd.apache.parquet': null,
        },
        query: exportTable,
      },
      async (c, { query }) => {
        const { outgoing } = c.env
        expectOwnConnection(outgoing)
        const { format, ...filter } = query
        const calls = filterOf(filter)
        const headers = {
          'Content-Type': types[format],
          'Cache-Control': 'no-store',
          'Content-Disposition': `attachment; filename="${fileName(calls, format)}"`,
        }
        if (c.req.method === 'HEAD') return c.body(null, 200, headers)
        outgoing.setTimeout(stallMs, () => outgoing.destroy())
        return sendStream(c, await jobs.export(format, calls), headers)
      },
    ),
  }
}
