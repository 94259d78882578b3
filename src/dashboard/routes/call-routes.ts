import { parseCallId } from '../../call/call-id.ts'
import { RequestError } from '../http/request-error.ts'
import { type Asked, type RouteTable, route } from '../http/router.ts'
import type { DashboardParts } from './dashboard-parts.ts'
import { answerQuery } from './query-reply.ts'
import { callsQuestion, callsTable, overviewQuestion, overviewTable } from './query-request.ts'

/** Recorded calls: lists, groups, single calls, and the overview. */
export function callRoutes({ queries, rawLog }: Pick<DashboardParts, 'queries' | 'rawLog'>): RouteTable {
  const query = {
    GET: route({
      query: callsTable,
      handle: async ({ request, query }) => answerQuery(request, await queries.ask(callsQuestion(query))),
    }),
  }
  return {
    '/api/query': query,
    '/api/stats': query,
    '/api/overview': {
      GET: route({
        query: overviewTable,
        handle: async ({ request, query }) =>
          answerQuery(request, await queries.ask(overviewQuestion(query))),
      }),
    },
    '/api/calls/:id': {
      GET: route({
        handle: async (asked) =>
          answerQuery(asked.request, await queries.ask({ kind: 'call', id: callIdOf(asked) })),
      }),
    },
    '/api/calls/:id/payloads': {
      GET: route({
        handle: async (asked) => {
          const id = callIdOf(asked)
          const { logging, filePath } = await rawLog.known()
          const outcome = await queries.ask({ kind: 'payloads', id, filePath, logging })
          return answerQuery(asked.request, outcome, { isPrivate: true })
        },
      }),
    },
  }
}

/** The call that the path names. */
function callIdOf({ params: { id: text = '' } }: Pick<Asked<unknown, unknown>, 'params'>): number {
  const id = parseCallId(text)
  if (id !== null) return id
  const form = 'eleven of 0-9 and a-z without i, l, o and u, the first at most 7'
  const message = `id must be as in x-tokenweir-call-id: ${form}; got ${JSON.stringify(text.slice(0, 100))}`
  throw new RequestError('invalid_parameter', message, { param: 'id' })
}
