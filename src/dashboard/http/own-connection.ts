import type { FastifyReply } from 'fastify'
import { RequestProblem } from './request-problem.ts'

/**
 * Throws {@link RequestProblem} where an answer without end would wait for that of a request before it on the same
 * connection: nobody would tell it when its reader has left.
 */
export function expectOwnConnection(reply: FastifyReply): void {
  if (reply.raw.socket !== null) return
  throw new RequestProblem(400, 'pipelined_stream', 'A stream needs a connection of its own.')
}
