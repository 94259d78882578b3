import { someOf } from '../../options/value-kind.ts'
import type { EventHub } from '../events/event-hub.ts'
import { Answer } from '../http/answer.ts'
import { RequestError } from '../http/request-error.ts'
import { type RouteTable, expectOwnConnection, route } from '../http/router.ts'

/** `/api/events?topics=…`: one stream for all topics. */
export function eventRoutes(hub: EventHub): RouteTable {
  return {
    '/api/events': {
      GET: route({
        query: { topics: someOf(hub.topicNames) },
        handle: ({ query, request, response }) => {
          if (hub.isFull) throw new RequestError('too_many_readers', 'Too many pages are open; close some.')
          expectOwnConnection(response)
          if (request.method === 'HEAD') {
            return new Answer(null, { 'Content-Type': 'text/event-stream; charset=utf-8' })
          }
          hub.open(response, query.topics)
          return undefined
        },
      }),
    },
  }
}
