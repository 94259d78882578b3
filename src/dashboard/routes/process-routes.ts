import * as v from 'valibot'
import { be, mapOf } from '../../options/schema.ts'
import { integer } from '../../options/value-kind.ts'
import { formatCallId } from '../../call/call-id.ts'
import { changeable } from '../../options/gateway-settings.ts'
import { or, parameterSchema, readParameter } from '../http/query-parameters.ts'
import { RequestError } from '../http/request-error.ts'
import { type RouteTable, route } from '../http/app.ts'
import { callId } from './call-routes.ts'
import type { DashboardDeps } from './dashboard-deps.ts'

/** Settings by name. `readSettings` checks names and values. */
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
 * `/api/proxy/…`: start, stop, restart, inspect and configure the gateway. `onChange` is called at the start
 * and the end of each change; `onCancel` after a cancelled call.
 */
export function processRoutes(
  { process, log }: Pick<DashboardDeps, 'process' | 'log'>,
  onChange: () => void,
  onCancel: () => void,
): RouteTable {
  const announced = <T>(work: Promise<T>): Promise<T> => {
    onChange()
    return work.finally(onChange)
  }
  return {
    /** The calls in progress, oldest first; none if no gateway answers. */
    'GET /api/live': route(
      { answer: 'LiveCalls' },
      async () => (await process.live()) ?? { calls: [], more: 0 },
    ),
    /**
     * Cancels a call: the client gets 503, or a broken connection if the answer has begun. @fails
     * call_not_found gateway_silent
     */
    'POST /api/calls/:id/cancel': route({ answer: 'Cancelled' }, async (c) => {
      const id = formatCallId(readParameter('id', callId, c.req.param('id')))
      if (!(await process.cancel(id))) {
        throw new RequestError('call_not_found', 'No call with this ID is in progress.')
      }
      onCancel()
      return { cancelled: true }
    }),
    /** The gateway's process: its state, address and health. */
    'GET /api/proxy/status': route({ answer: 'ProcessStatus' }, () => process.status()),
    /** Starts the gateway; answers when it is healthy. @fails unknown_setting invalid_setting fixed_setting start_failed port_in_use broken_settings_file settings_not_kept */
    'POST /api/proxy/start': route({ answer: 'StartAnswer', body: optionalSettings }, (_, { body }) =>
      announced(process.start(body)),
    ),
    /** Stops the gateway, which first finishes the calls in flight; answers when it has ended. @fails not_running stop_failed */
    'POST /api/proxy/stop': route({ answer: 'ProcessStatus' }, () => announced(process.stop())),
    /** Starts a new gateway, which takes over from the running one without refusing a call. @fails unknown_setting invalid_setting fixed_setting start_failed port_in_use stop_failed broken_settings_file settings_not_kept */
    'POST /api/proxy/restart': route({ answer: 'ProcessStatus', body: optionalSettings }, (_, { body }) =>
      announced(process.restart(body)),
    ),
    /** Every option of the gateway: value, default, source, and the running gateway's value. @fails broken_settings_file */
    'GET /api/proxy/config': route({ answer: 'ProxyConfig' }, () => process.config()),
    /** Saves settings for the next start; live ones take effect at once. @fails unknown_setting invalid_setting fixed_setting not_applied broken_settings_file settings_not_kept */
    'PUT /api/proxy/config': route({ answer: 'ProxyConfig', body: settings }, (_, { body }) =>
      announced(process.configure(body)),
    ),
    /** The last lines of the gateway's log. */
    'GET /api/proxy/logs': route(
      { answer: 'LogTail', query: { lines: or(integer(1, 5000), 150) } },
      async (_, { query }) => {
        const { lines, totalLines } = await log.tail(query.lines)
        return { logs: lines, total_lines: totalLines, returned_lines: lines.length }
      },
    ),
    /** Empties the gateway's log. */
    'POST /api/proxy/clear-logs': route({ answer: 'Done' }, async () => {
      await log.clear()
      return { success: true }
    }),
  }
}
