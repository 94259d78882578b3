import * as v from 'valibot'
import { object } from '../../options/schema.ts'
import { guessSourceOf } from '../http/guard.ts'
import { RequestError } from '../http/request-error.ts'
import { type RouteTable, route } from '../http/app.ts'
import type { SignIn } from '../http/sign-in.ts'

const tokenBody = object({ token: v.string() })

/** `/api/session`: signs a browser in with the admin token, and out. */
export function sessionRoutes(signIn: SignIn | null): RouteTable {
  return {
    /** Signs a browser in: answers the admin token with a cookie. @fails token_wrong too_many_attempts */
    'POST /api/session': route({ answer: { 204: null }, body: tokenBody }, (c, { body }) => {
      if (signIn === null) {
        throw new RequestError('token_not_set', 'There is no admin token to sign in with.')
      }
      const source = guessSourceOf(c.env.incoming)
      const waitMs = signIn.waitMs(source)
      if (waitMs > 0) {
        throw new RequestError('too_many_attempts', 'Too many attempts to sign in; wait a minute.', {
          headers: { 'Retry-After': String(Math.ceil(waitMs / 1000)) },
        })
      }
      const cookie = signIn.byToken(body.token, source)
      if (cookie === null) throw new RequestError('token_wrong', 'Wrong token.')
      return c.body(null, 204, { 'Set-Cookie': cookie })
    }),
    /** Signs a browser out. */
    'DELETE /api/session': route({ answer: { 204: null } }, (c) =>
      c.body(null, 204, signIn === null ? {} : { 'Set-Cookie': signIn.signOut() }),
    ),
  }
}
