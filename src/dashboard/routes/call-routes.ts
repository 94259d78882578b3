import type { FastifyInstance, FastifyReply } from 'fastify'
import { parseCallId } from '../../call/call-id.ts'
import type { QueryQuestion } from '../../query/query-question.ts'
import type { QueryReplies } from './query-reply.ts'
import { callsQuestion, callsTable, overviewQuestion, overviewTable } from './query-request.ts'
import type { QuerySource } from './query-source.ts'
import type { RawLogSource } from './raw-log-source.ts'
import { RequestProblem } from '../http/request-problem.ts'
import { addRoutes, route } from '../http/route-table.ts'

/** What the routes of recorded calls need. */
export interface CallRoutesOptions {
  readonly queries: QuerySource
  readonly replies: QueryReplies
  readonly rawLog: RawLogSource
}

/** What was recorded: lists, groups, single calls, and the overview. */
export function addCallRoutes(app: FastifyInstance, { queries, replies, rawLog }: CallRoutesOptions): void {
  const answer = async (reply: FastifyReply, question: QueryQuestion): Promise<FastifyReply> =>
    await replies.send(reply, await queries.ask(question))

  const query = {
    GET: route({ query: callsTable, handle: ({ query }, reply) => answer(reply, callsQuestion(query)) }),
  }
  addRoutes(app, '/api/query', query)
  addRoutes(app, '/api/stats', query)
  addRoutes(app, '/api/overview', {
    GET: route({
      query: overviewTable,
      handle: ({ query }, reply) => answer(reply, overviewQuestion(query)),
    }),
  })
  addRoutes(app, '/api/calls/:id', {
    GET: route({ handle: (_, reply) => answer(reply, { kind: 'call', id: callIdOf(reply) }) }),
  })
  addRoutes(app, '/api/calls/:id/payloads', {
    GET: route({
      handle: async (_, reply) => {
        const id = callIdOf(reply)
        const { logging, filePath } = await rawLog.known()
        const outcome = await queries.ask({ kind: 'payloads', id, filePath, logging })
        return await replies.sendPrivate(reply, outcome)
      },
    }),
  })
}

/** The call that the path names. */
function callIdOf(reply: FastifyReply): number {
  const { id: text } = reply.request.params as { readonly id: string }
  const id = parseCallId(text)
  if (id !== null) return id
  const form = 'eleven of 0-9 and a-z without i, l, o and u, the first at most 7'
  const message = `id must be as in x-tokenweir-call-id: ${form}; got ${JSON.stringify(text.slice(0, 100))}`
  throw new RequestProblem(400, 'invalid_parameter', message, { param: 'id' })
}
