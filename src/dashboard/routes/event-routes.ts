import type { FastifyInstance } from 'fastify'
import type { EventHub } from '../events/event-hub.ts'
import { expectOwnConnection } from '../http/own-connection.ts'
import { someOf } from '../../options/value-kind.ts'
import { RequestProblem } from '../http/request-problem.ts'
import { addRoutes, route } from '../http/route-table.ts'

/** `/api/events?topics=…`: one stream for all topics. */
export function addEventRoutes(app: FastifyInstance, hub: EventHub): void {
  addRoutes(app, '/api/events', {
    GET: route({
      query: { topics: someOf(hub.topicNames) },
      handle: ({ query }, reply) => {
        if (hub.isFull) {
          throw new RequestProblem(503, 'too_many_readers', 'Too many pages are open; close some.', {
            headers: { 'retry-after': '10' },
          })
        }
        expectOwnConnection(reply)
        if (reply.request.method === 'HEAD') return reply.type('text/event-stream; charset=utf-8').send()
        reply.hijack()
        hub.open(reply.raw, query.topics)
        return reply
      },
    }),
  })
}
