import type { CallPayloads } from '../../api/call-payloads.ts'
import type { Overview } from '../../api/overview.ts'
import type { SlotWaitsReport } from '../../api/slot-waits.ts'
import type { Sessions } from '../../api/sessions.ts'
import type { CallJson } from '../../call/call-record.ts'
import type { GroupAnswer } from '../../query/group-answer.ts'
import type { ListAnswer } from '../../api/call-list.ts'
import type { NoStore } from './answer-shapes.ts'
import { parseCallId } from '../../call/call-id.ts'
import type { Clock } from '../../call/clock.ts'
import type { QueryQuestion } from '../../query/query-question.ts'
import { type QueryParameter, type QueryTable, readParameter } from '../http/query-parameters.ts'
import { type AnyRoute, type RoutesOf, route } from '../http/app.ts'
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

interface SessionList extends Sessions, NoStore {}

/** Calls, newest first; or figures by a key, with `group_by`. Other forms hold the calls or groups alone. @fails too_many_groups folded_range too_busy too_slow query_interrupted */
interface QueryAnswers {
  readonly 200: CallList | CallGroups
  readonly '200 text/csv': string
  readonly '200 application/x-ndjson': string
}

interface CallList extends ListAnswer, NoStore {}

interface CallGroups extends GroupAnswer, NoStore {}

/** What each route answers, and the errors that it alone has. */
export interface CallAnswers {
  'GET /api/query': QueryAnswers
  'GET /api/stats': QueryAnswers
  /** All that the first page shows: the last 24 hours unless told otherwise, with the window before. @fails folded_range too_busy too_slow query_interrupted */
  'GET /api/overview': { readonly 200: Overview }
  /** How calls waited for slots, and would have with other limits, if the upstream were as fast as it was. @fails too_busy too_slow query_interrupted */
  'GET /api/slots': { readonly 200: SlotWaitsReport }
  /** Sessions that have a call of the filter; each is told as a whole. Other forms hold the sessions alone. @fails too_busy too_slow query_interrupted */
  'GET /api/sessions': {
    readonly 200: SessionList
    readonly '200 text/csv': string
    readonly '200 application/x-ndjson': string
  }
  /** One call. @fails call_not_found too_busy too_slow query_interrupted */
  'GET /api/calls/:id': { readonly 200: CallJson }
  /** What a call asked and was answered, if that was kept. @fails too_busy too_slow query_interrupted */
  'GET /api/calls/:id/payloads': { readonly 200: CallPayloads }
}

/** The call that a path names. */
export const callId: QueryParameter<number> = {
  range: 'as in x-tokenweir-call-id: eleven of 0-9 and a-z without i, l, o and u, the first at most 7',
  parse: (text) => parseCallId(text) ?? undefined,
}

/** Recorded calls: lists, groups, single calls, and the overview. */
export function callRoutes(
  { queries, rawLog, notes }: Pick<DashboardParts, 'queries' | 'rawLog' | 'notes'>,
  clock: Clock,
): RoutesOf<CallAnswers> {
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
