import type { Clock } from '../../call/clock.ts'
import { object, only } from '../../options/json-check.ts'
import { isText } from '../../lib/message-shape.ts'
import { Answer } from '../http/answer.ts'
import { attemptLimit } from '../http/attempt-limit.ts'
import { RequestError } from '../http/request-error.ts'
import { type RouteTable, route } from '../http/router.ts'
import type { SignIn } from '../http/sign-in.ts'

const maxAttempts = 10
const windowMs = 60_000

const tokenBody = object<{ readonly token: string }>({ token: only('a text', isText, { type: 'string' }) })

/** `/api/session`: the admin token, typed in, becomes a cookie; and the cookie goes. */
export function sessionRoutes(signIn: SignIn | null, clock: Clock): RouteTable {
  const attempt = attemptLimit(clock, maxAttempts, windowMs)
  return {
    'POST /api/session': route({ body: tokenBody }, ({ body, request }) => {
      if (signIn === null) {
        throw new RequestError('token_not_set', 'There is no admin token to sign in with.')
      }
      const waitMs = attempt(request.socket.remoteAddress ?? '')
      if (waitMs > 0) {
        throw new RequestError('too_many_attempts', 'Too many attempts to sign in; wait a minute.', {
          headers: { 'Retry-After': String(Math.ceil(waitMs / 1000)) },
        })
      }
      const cookie = signIn.byToken(body.token)
      if (cookie === null) throw new RequestError('token_wrong', 'This is not the admin token.')
      return new Answer(null, { 'Set-Cookie': cookie }, 204)
    }),
    'DELETE /api/session': route(
      {},
      () => new Answer(null, signIn === null ? {} : { 'Set-Cookie': signIn.signOut() }, 204),
    ),
  }
}
