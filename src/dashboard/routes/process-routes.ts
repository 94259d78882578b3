import * as v from 'valibot'
import { be, mapOf } from '../../options/schema.ts'
import { integer } from '../../options/value-kind.ts'
import { formatCallId } from '../../call/call-id.ts'
import { changeable } from '../../options/gateway-settings.ts'
import { or, parameterSchema, readParameter } from '../http/query-parameters.ts'
import { RequestError } from '../http/request-error.ts'
import { type RouteTable, route } from '../http/app.ts'
import { callId } from './call-routes.ts'
import type { DashboardParts } from './dashboard-parts.ts'

/** Settings by their names; which names there are, and which values each takes, the settings themselves know. */
const settings = v.pipe(
  mapOf(v.union([v.number(), v.string(), v.boolean()], be('a number, a text, true or false'))),
  v.metadata({
    jsonSchema: {
      type: 'object',
      properties: Object.fromEntries(
        changeable.map(({ name, spec }) => [name, parameterSchema({ ...spec.kind, doc: spec.description })]),
      ),
      additionalProperties: false,
    },
  }),
)
const optionalSettings = v.nullish(settings, {})

/**
 * `/api/proxy/…`: start, stop, restart, inspect and set up the gateway. `onChange` is told when something was asked of the
 * gateway, and again when it is done; `onCancel` when a call was cancelled.
 */
export function processRoutes(
  { process, log }: Pick<DashboardParts, 'process' | 'log'>,
  onChange: () => void,
  onCancel: () => void,
): RouteTable {
  const announced = <T>(work: Promise<T>): Promise<T> => {
    onChange()
    return work.finally(onChange)
  }
  return {
    'GET /api/live': route({}, async () => (await process.live()) ?? { calls: [], more: 0 }),
    'POST /api/calls/:id/cancel': route({}, async (c) => {
      const id = formatCallId(readParameter('id', callId, c.req.param('id')))
      if (!(await process.cancel(id))) {
        throw new RequestError('call_not_found', 'No call of this id is under way.')
      }
      onCancel()
      return { cancelled: true }
    }),
    'GET /api/proxy/status': route({}, () => process.status()),
    'POST /api/proxy/start': route({ body: optionalSettings }, (_, { body }) =>
      announced(process.start(body)),
    ),
    'POST /api/proxy/stop': route({}, () => announced(process.stop())),
    'POST /api/proxy/restart': route({ body: optionalSettings }, (_, { body }) =>
      announced(process.restart(body)),
    ),
    'GET /api/proxy/config': route({}, () => process.config()),
    'PUT /api/proxy/config': route({ body: settings }, (_, { body }) => announced(process.configure(body))),
    'GET /api/proxy/logs': route({ query: { lines: or(integer(1, 5000), 150) } }, async (_, { query }) => {
      const { lines, totalLines } = await log.tail(query.lines)
      return { logs: lines, total_lines: totalLines, returned_lines: lines.length }
    }),
    'POST /api/proxy/clear-logs': route({}, async () => {
      await log.clear()
      return { success: true }
    }),
  }
}
