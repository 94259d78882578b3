import { parseCallId } from '../../call/call-id.ts'
import type { Clock } from '../../call/clock.ts'
import type { QueryQuestion } from '../../query/query-question.ts'
import { type QueryParameter, type QueryTable, readParameter } from '../http/query-parameters.ts'
import { type AnyRoute, type RouteTable, route } from '../http/app.ts'
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
  const asking = <Q>(table: QueryTable<Q>, questionOf: (query: Q) => QueryQuestion): AnyRoute =>
    route({ query: table }, async (c, { query }) => answerQuery(c, await queries.ask(questionOf(query))))
  const calls = asking(callsTable, callsQuestion)
  return {
    'GET /api/query': calls,
    'GET /api/stats': calls,
    'GET /api/overview': asking(overviewTable, (query) =>
      overviewQuestion(query, clock.wallTime(), (range) => notes.report(range).notes),
    ),
    'GET /api/slots': asking(slotsTable, slotsQuestion),
    'GET /api/sessions': asking(sessionsTable, sessionsQuestion),
    'GET /api/calls/:id': route({}, async (c) => {
      const id = readParameter('id', callId, c.req.param('id'))
      return answerQuery(c, await queries.ask({ kind: 'call', id }))
    }),
    'GET /api/calls/:id/payloads': route({}, async (c) => {
      const id = readParameter('id', callId, c.req.param('id'))
      const { logging, filePath } = await rawLog.known()
      const outcome = await queries.ask({ kind: 'payloads', id, filePath, logging })
      return answerQuery(c, outcome, { isPrivate: true })
    }),
  }
}
