import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type QueryTable, readQuery } from './query-parameters.ts'
import { RequestProblem } from './request-problem.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** What a route takes, and what it does: it returns the body of its answer, or has answered by `reply`. */
export interface Route<Q> {
  /** Absent where it takes none. */
  readonly query?: QueryTable<Q>
  /** JSON schema; absent where the body is not looked at. */
  readonly body?: object
  readonly handle: (asked: Asked<Q>, reply: FastifyReply) => unknown
}

/** A request as its route sees it. */
export interface Asked<Q> {
  readonly query: Q
  readonly body: unknown
  /** The address of who asks. */
  readonly peer: string
}

/** A route with its types closed. */
export interface AnyRoute {
  readonly body: object | null
  readonly handle: (request: FastifyRequest, reply: FastifyReply) => unknown
}

/** A route, whose handler is given a query that is as its table says. */
export function route<Q = unknown>({ query, body, handle }: Route<Q>): AnyRoute {
  const table = query ?? ({} as QueryTable<Q>)
  return {
    body: body ?? null,
    handle: (request, reply) => {
      const asked = readQuery(request.query as Record<string, unknown>, table)
      return handle({ query: asked, body: request.body, peer: request.ip }, reply)
    },
  }
}

/** One path with all its methods; GET answers HEAD too, and the others are 405. */
export function addRoutes(
  app: FastifyInstance,
  path: string,
  routes: Readonly<Partial<Record<Method, AnyRoute>>>,
): void {
  for (const [method, { body, handle }] of Object.entries(routes)) {
    app.route({ method, url: path, schema: body === null ? {} : { body }, handler: handle })
  }
  const taken = Object.keys(routes).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  const allow = taken.join(', ')
  app.route({
    method: app.supportedMethods.filter((method) => !taken.includes(method)),
    url: path,
    // Before a body is read that nobody will look at.
    onRequest: () => {
      throw new RequestProblem(405, 'method_not_allowed', `${path} takes ${allow}.`, { headers: { allow } })
    },
    handler: () => undefined,
  })
}
