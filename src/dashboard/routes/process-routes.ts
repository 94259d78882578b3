import type { LiveCalls } from '../../api/live-calls.ts'
import type { ProcessStatus, StartAnswer } from '../../api/process-status.ts'
import type { ProxyConfig } from '../../api/proxy-config.ts'
import type { Done } from './answer-shapes.ts'
import * as v from 'valibot'
import { be, mapOf } from '../../options/schema.ts'
import { integer } from '../../options/value-kind.ts'
import { formatCallId } from '../../call/call-id.ts'
import { changeable } from '../../options/gateway-settings.ts'
import { or, parameterSchema, readParameter } from '../http/query-parameters.ts'
import { RequestError } from '../http/request-error.ts'
import { type RoutesOf, route } from '../http/app.ts'
import { callId } from './call-routes.ts'
import type { DashboardParts } from './dashboard-parts.ts'

/** What each route answers, and the errors that it alone has. */
export interface ProcessAnswers {
  /** The gateway's process: its state, address and health. */
  'GET /api/proxy/status': { readonly 200: ProcessStatus }
  /** Starts the gateway; answers when it is healthy. @fails unknown_setting invalid_setting fixed_setting start_failed port_in_use broken_settings_file settings_not_kept */
  'POST /api/proxy/start': { readonly 200: StartAnswer }
  /** Stops the gateway, which first finishes the calls in flight; answers when it has ended. @fails not_running stop_failed */
  'POST /api/proxy/stop': { readonly 200: ProcessStatus }
  /** Starts a new gateway, which takes over from the running one without refusing a call. @fails unknown_setting invalid_setting fixed_setting start_failed port_in_use stop_failed broken_settings_file settings_not_kept */
  'POST /api/proxy/restart': { readonly 200: ProcessStatus }
  /** Every option of the gateway: value, default, source, and what the running one goes by. @fails broken_settings_file */
  'GET /api/proxy/config': { readonly 200: ProxyConfig }
  /** Keeps settings for the next start; live ones take effect at once. @fails unknown_setting invalid_setting fixed_setting not_applied broken_settings_file settings_not_kept */
  'PUT /api/proxy/config': { readonly 200: ProxyConfig }
  /** The last lines of the gateway's log. */
  'GET /api/proxy/logs': {
    readonly 200: {
      readonly logs: readonly string[]
      readonly total_lines: number
      readonly returned_lines: number
    }
  }
  /** Empties the gateway's log. */
  'POST /api/proxy/clear-logs': { readonly 200: Done }
  /** The calls that are not over yet, the oldest first; none if no gateway answers. */
  'GET /api/live': { readonly 200: LiveCalls }
  /** Ends a call: it is answered 503, or cut where its answer has begun. @fails call_not_found gateway_silent */
  'POST /api/calls/:id/cancel': { readonly 200: { readonly cancelled: true } }
}

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
): RoutesOf<ProcessAnswers> {
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
