import type { FastifyInstance, FastifyReply } from 'fastify'
import { parseCallId } from '../call/call-id.ts'
import type { QueryQuestion } from '../query/query-question.ts'
import { QueryReplies } from './query-reply.ts'
import { callsQuestion, callsTable, overviewQuestion, overviewTable } from './query-request.ts'
import type { QuerySource } from './query-source.ts'
import { RequestProblem } from './request-problem.ts'
import { addRoutes, route } from './route-table.ts'

/** What was recorded: lists, groups, single calls, and the overview. */
export function addCallRoutes(app: FastifyInstance, queries: QuerySource): void {
  const replies = new QueryReplies()
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
    GET: route({
      handle: (_, reply) => {
        const { id: text } = reply.request.params as { readonly id: string }
        const id = parseCallId(text)
        if (id === null) {
          const message = `id must be eleven characters as in x-tokenweir-call-id; got ${JSON.stringify(text.slice(0, 100))}`
          throw new RequestProblem(400, 'invalid_parameter', message, { param: 'id' })
        }
        return answer(reply, { kind: 'call', id })
      },
    }),
  })
}
