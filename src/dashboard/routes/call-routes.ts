import { parseCallId } from '../../call/call-id.ts'
import type { Clock } from '../../call/clock.ts'
import { type QueryParameter, readParameter } from '../http/query-parameters.ts'
import { type RouteTable, route } from '../http/router.ts'
import type { DashboardParts } from './dashboard-parts.ts'
import { answerQuery } from './query-reply.ts'
import {
  callsQuestion,
  callsTable,
  overviewQuestion,
  overviewTable,
  sessionsQuestion,
  sessionsTable,
  slotsQuestion,
  slotsTable,
} from './query-request.ts'

/** The call that a path names. */
export const callId: QueryParameter<number> = {
  range: 'as in x-tokenweir-call-id: eleven of 0-9 and a-z without i, l, o and u, the first at most 7',
  parse: (text) => parseCallId(text) ?? undefined,
}

/** Recorded calls: lists, groups, single calls, and the overview. */
export function callRoutes(
  { queries, rawLog, notes }: Pick<DashboardParts, 'queries' | 'rawLog' | 'notes'>,
  clock: Clock,
): RouteTable {
  const query = route({ query: callsTable }, async ({ request, query }) =>
    answerQuery(request, await queries.ask(callsQuestion(query))),
  )
  return {
    'GET /api/query': query,
    'GET /api/stats': query,
    'GET /api/overview': route({ query: overviewTable }, async ({ request, query }) =>
      answerQuery(
        request,
        await queries.ask(overviewQuestion(query, clock.wallTime(), (range) => notes.report(range).notes)),
      ),
    ),
    'GET /api/slots': route({ query: slotsTable }, async ({ request, query }) =>
      answerQuery(request, await queries.ask(slotsQuestion(query))),
    ),
    'GET /api/sessions': route({ query: sessionsTable }, async ({ request, query }) =>
      answerQuery(request, await queries.ask(sessionsQuestion(query))),
    ),
    'GET /api/calls/:id': route({}, async ({ params, request }) => {
      const id = readParameter('id', callId, params['id'])
      return answerQuery(request, await queries.ask({ kind: 'call', id }))
    }),
    'GET /api/calls/:id/payloads': route({}, async ({ params, request }) => {
      const id = readParameter('id', callId, params['id'])
      const { logging, filePath } = await rawLog.known()
      const outcome = await queries.ask({ kind: 'payloads', id, filePath, logging })
      return answerQuery(request, outcome, { isPrivate: true })
    }),
  }
}
