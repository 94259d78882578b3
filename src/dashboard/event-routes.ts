import type { FastifyInstance } from 'fastify'
import type { EventHub } from './event-hub.ts'
import { someOf } from './query-parameters.ts'
import { RequestProblem } from './request-problem.ts'
import { addRoutes, route } from './route-table.ts'

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
        // Pipelined behind another answer it would wait for that one's end, and nobody would tell it when its reader
        // has left.
        if (reply.raw.socket === null) {
          throw new RequestProblem(400, 'pipelined_stream', 'A stream needs a connection of its own.')
        }
        if (reply.request.method === 'HEAD') return reply.type('text/event-stream; charset=utf-8').send()
        reply.hijack()
        hub.open(reply.raw, query.topics)
        return reply
      },
    }),
  })
}
