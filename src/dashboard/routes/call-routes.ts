import { parseCallId } from '../../call/call-id.ts'
import type { Clock } from '../../call/clock.ts'
import { priceFileState } from '../../pricing/prices-in-force.ts'
import type { QueryQuestion } from '../../query/query-question.ts'
import { type QueryParameter, type QueryTable, readParameter } from '../http/query-parameters.ts'
import { type AnswerNames, type AnyRoute, type RouteTable, route } from '../http/app.ts'
import type { DashboardDeps } from './dashboard-deps.ts'
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

/** The id of a call in a path. */
export const callId: QueryParameter<number> = {
  range: 'as in x-tokenweir-call-id: eleven of 0-9 and a-z without i, l, o and u, the first at most 7',
  parse: (text) => parseCallId(text) ?? undefined,
}

const otherForms = { '200 text/csv': null, '200 application/x-ndjson': null } as const

/** Recorded calls: lists, groups, single calls, and the overview. */
export function callRoutes(
  { queries, rawLog, notes, priceFile }: Pick<DashboardDeps, 'queries' | 'rawLog' | 'notes' | 'priceFile'>,
  clock: Clock,
): RouteTable {
  const asking = <Q>(answer: AnswerNames, query: QueryTable<Q>, of: (query: Q) => QueryQuestion): AnyRoute =>
    route({ answer, query }, async (c, input) => answerQuery(c, await queries.ask(of(input.query))))
  const calls = asking({ 200: 'CallsAnswer', ...otherForms }, callsTable, callsQuestion)
  return {
    /**
     * Calls, newest first; with `group_by`, figures by a key. CSV and NDJSON have only the calls or groups.
     * @fails too_many_groups folded_range too_busy too_slow query_interrupted
     */
    'GET /api/query': calls,
    /** The same as `/api/query`. @fails too_many_groups folded_range too_busy too_slow query_interrupted */
    'GET /api/stats': calls,
    /**
     * The data of the Overview (default: the last 24 hours), with the totals of the window before. @fails
     * folded_range too_busy too_slow query_interrupted
     */
    'GET /api/overview': asking('Overview', overviewTable, (query) =>
      overviewQuestion(query, clock.wallTime(), (range) => notes.report(range).notes),
    ),
    /** Waits for slots, recorded and simulated with other limits at the same speed of the upstream. @fails too_busy too_slow query_interrupted */
    'GET /api/slots': asking('SlotWaitsReport', slotsTable, slotsQuestion),
    /** Sessions with a call of the filter; each with figures of all its calls. CSV and NDJSON have only the sessions. @fails too_busy too_slow query_interrupted */
    'GET /api/sessions': asking({ 200: 'Sessions', ...otherForms }, sessionsTable, sessionsQuestion),
    /** A single call. @fails call_not_found too_busy too_slow query_interrupted */
    'GET /api/calls/:id': route({ answer: 'SingleCall' }, async (c) => {
      const id = readParameter('id', callId, c.req.param('id'))
      const fileState = priceFileState(priceFile)
      return answerQuery(c, await queries.ask({ kind: 'call', id, fileState }))
    }),
    /** The payloads of a call, if they were logged. @fails too_busy too_slow query_interrupted */
    'GET /api/calls/:id/payloads': route({ answer: 'CallPayloads' }, async (c) => {
      const id = readParameter('id', callId, c.req.param('id'))
      const { logging, filePath } = await rawLog.readState()
      const outcome = await queries.ask({ kind: 'payloads', id, filePath, logging })
      return answerQuery(c, outcome, { isPrivate: true })
    }),
  }
}
