import type { FastifyInstance, FastifyReply } from 'fastify'
import { expectOwnConnection } from '../http/own-connection.ts'
import { integer } from '../../options/value-kind.ts'
import { optional, or } from '../http/query-parameters.ts'
import type { QueryReplies } from './query-reply.ts'
import type { QuerySource } from './query-source.ts'
import type { RawLogSource } from './raw-log-source.ts'
import { addRoutes, route } from '../http/route-table.ts'

/** JSON schema of what the switch may be told. */
const toggleOrder = {
  type: 'object',
  properties: {
    enabled: { type: 'boolean' },
    for_s: { type: ['number', 'null'], exclusiveMinimum: 0, maximum: 604_800 },
  },
  required: ['enabled'],
  additionalProperties: false,
}

/** What the routes of the log of payloads need. */
export interface RawLogRoutesOptions {
  readonly rawLog: RawLogSource
  readonly queries: QuerySource
  readonly replies: QueryReplies
}

/** `/api/raw-log/…`: passed on to the gateway; where none runs, the files answer what files can. */
export function addRawLogRoutes(app: FastifyInstance, options: RawLogRoutesOptions): void {
  const { rawLog, queries, replies } = options
  addRoutes(app, '/api/raw-log/status', { GET: route({ handle: () => rawLog.status() }) })
  addRoutes(app, '/api/raw-log/toggle', {
    POST: route({ body: toggleOrder, handle: ({ body }) => rawLog.toggle(body as object) }),
  })
  addRoutes(app, '/api/raw-log/clear', { POST: route({ handle: () => rawLog.clear() }) })
  addRoutes(app, '/api/raw-log/recent', {
    GET: route({
      query: { limit: or(integer(1, 1000), 50) },
      handle: async ({ query: { limit } }, reply) => {
        const relayed = await rawLog.recent(limit)
        if (relayed !== null) return reply.type('application/json; charset=utf-8').send(relayed)
        const { filePath } = await rawLog.known()
        return replies.sendPrivate(reply, await queries.ask({ kind: 'recent_payloads', filePath, limit }))
      },
    }),
  })
  addRoutes(app, '/api/raw-log/stream', {
    GET: route({
      query: { last_event_id: optional(integer(0, Number.MAX_SAFE_INTEGER)) },
      handle: async ({ query }, reply) => {
        expectOwnConnection(reply)
        reply.type('text/event-stream; charset=utf-8')
        // Nothing would end a stream that is opened for its head alone.
        if (reply.request.method === 'HEAD') return reply.send()
        const lastEventId = query.last_event_id?.toString() ?? lastEventIdOf(reply)
        // Nothing is held of it here: a reader that is slow is slow for the gateway, which minds that.
        return reply.header('X-Accel-Buffering', 'no').send(await rawLog.stream(lastEventId))
      },
    }),
  })
}

/** What a client sends by itself when it comes back; null where it is none that the gateway gave. */
function lastEventIdOf(reply: FastifyReply): string | null {
  const value = reply.request.headers['last-event-id']
  return typeof value === 'string' && /^\d{1,16}$/.test(value) ? value : null
}
