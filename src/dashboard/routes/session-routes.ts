import type { FastifyInstance } from 'fastify'
import type { Clock } from '../../call/clock.ts'
import { AttemptLimit } from '../http/attempt-limit.ts'
import { RequestProblem } from '../http/request-problem.ts'
import { addRoutes, route } from '../http/route-table.ts'
import type { SignIn } from '../http/sign-in.ts'

const maxAttempts = 10
const windowMs = 60_000

const tokenBody = {
  type: 'object',
  required: ['token'],
  additionalProperties: false,
  properties: { token: { type: 'string' } },
}

/** `/api/session`: the admin token, typed in, becomes a cookie; and the cookie goes. */
export function addSessionRoutes(app: FastifyInstance, signIn: SignIn | null, clock: Clock): void {
  const attempts = new AttemptLimit(clock, maxAttempts, windowMs)
  addRoutes(app, '/api/session', {
    POST: route({
      body: tokenBody,
      handle: ({ body, peer }, reply) => {
        if (signIn === null) {
          throw new RequestProblem(403, 'token_not_set', 'There is no admin token to sign in with.')
        }
        const waitMs = attempts.take(peer)
        if (waitMs > 0) {
          throw new RequestProblem(429, 'too_many_attempts', 'Too many attempts to sign in; wait a minute.', {
            headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) },
          })
        }
        const cookie = signIn.byToken((body as { readonly token: string }).token)
        if (cookie === null) throw new RequestProblem(401, 'token_wrong', 'This is not the admin token.')
        return reply.header('set-cookie', cookie).code(204).send()
      },
    }),
    DELETE: route({
      handle: (_, reply) => {
        if (signIn !== null) reply.header('set-cookie', signIn.signOut())
        return reply.code(204).send()
      },
    }),
  })
}
