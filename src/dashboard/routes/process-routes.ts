import type { FastifyInstance } from 'fastify'
import type { GatewayProcess } from '../../supervisor/gateway-process.ts'
import type { Settings } from '../../options/gateway-settings.ts'
import type { LogSource } from './log-source.ts'
import { integer } from '../../options/value-kind.ts'
import { or } from '../http/query-parameters.ts'
import { addRoutes, route } from '../http/route-table.ts'
import { optionalSettings, settings } from '../http/settings-body.ts'

/** What the routes that look at the gateway, and act on it, need. */
export interface ProcessRoutesOptions {
  readonly process: GatewayProcess
  readonly log: LogSource
  /** Told when something was asked of the gateway, and again when it is done. */
  readonly onChange: () => void
}

/** `/api/proxy/…`: start, stop, restart, inspect and set up the gateway. */
export function addProcessRoutes(app: FastifyInstance, options: ProcessRoutesOptions): void {
  const { process, log, onChange } = options
  const announced = async <T>(work: Promise<T>): Promise<T> => {
    onChange()
    try {
      return await work
    } finally {
      onChange()
    }
  }

  addRoutes(app, '/api/proxy/status', { GET: route({ handle: () => process.status() }) })
  addRoutes(app, '/api/proxy/start', {
    POST: route({
      body: optionalSettings,
      handle: ({ body }) => announced(process.start((body ?? {}) as Settings)),
    }),
  })
  addRoutes(app, '/api/proxy/stop', { POST: route({ handle: () => announced(process.stop()) }) })
  addRoutes(app, '/api/proxy/restart', {
    POST: route({
      body: optionalSettings,
      handle: ({ body }) => announced(process.restart((body ?? {}) as Settings)),
    }),
  })
  addRoutes(app, '/api/proxy/config', {
    GET: route({ handle: () => process.config() }),
    PUT: route({ body: settings, handle: ({ body }) => announced(process.configure(body as Settings)) }),
  })
  addRoutes(app, '/api/proxy/logs', {
    GET: route({
      query: { lines: or(integer(1, 5000), 150) },
      handle: async ({ query }) => {
        const { lines, totalLines } = await log.tail(query.lines)
        return { logs: lines, total_lines: totalLines, returned_lines: lines.length }
      },
    }),
  })
  addRoutes(app, '/api/proxy/clear-logs', {
    POST: route({
      handle: async () => {
        await log.clear()
        return { success: true }
      },
    }),
  })
}
