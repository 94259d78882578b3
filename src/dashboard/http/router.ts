import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ParsedUrlQuery, parse } from 'node:querystring'
import type { JsonCheck } from '../../options/json-check.ts'
import { Answer, errorAnswer, jsonAnswer, send } from './answer.ts'
import { type QueryTable, readQuery } from './query-parameters.ts'
import { checkedBody, readJsonBody } from './request-body.ts'
import { RequestError, requestErrorOf } from './request-error.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

const knownMethods: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'PATCH',
  'OPTIONS',
  'TRACE',
])

/** A part of a path that is a name: a model's, of some hundred characters, and each may be three as it is escaped. */
const maxSegmentLength = 2000

/** A request as its route sees it. */
export interface Asked<Q, B> {
  readonly query: Q
  readonly body: B
  /** The parts of the path that the route names, decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly request: IncomingMessage
  /** For a route that answers by itself, and returns nothing. */
  readonly response: ServerResponse
}

/** One method of a path. Its handler returns an {@link Answer}, or a value that is answered as JSON. */
export interface Route<Q, B> {
  /** Absent if it takes none; null if any will do. */
  readonly query?: QueryTable<Q> | null
  /** Absent if the body is not looked at. */
  readonly body?: JsonCheck<B>
  readonly handle: (asked: Asked<Q, B>) => unknown
}

type RawAsked = Asked<ParsedUrlQuery, unknown>

/** A route with its types closed. */
type AnyRoute = (asked: RawAsked) => unknown

/** The methods of each path. `:name` stands for any part of a path; GET answers HEAD, too. */
export type RouteTable = Readonly<Record<string, Readonly<Partial<Record<Method, AnyRoute>>>>>

/** A route whose handler is given a query and a body that are as it says. */
export function route<Q = unknown, B = unknown>({ query, body, handle }: Route<Q, B>): AnyRoute {
  return (asked) =>
    handle({
      ...asked,
      query: query === null ? (asked.query as Q) : readQuery(asked.query, query ?? ({} as QueryTable<Q>)),
      body: body === undefined ? (asked.body as B) : checkedBody(body, asked.body),
    })
}

/** Answers requests by a table of routes. */
export class Router {
  readonly #routes: RouteTable
  readonly #onFault: (error: unknown) => void

  /** `onFault` is told of faults of our own, which are never shown to who asked. */
  constructor(routes: RouteTable, onFault: (error: unknown) => void) {
    this.#routes = routes
    this.#onFault = onFault
  }

  /** Every error, whoever throws it, is answered in the one shape. Never rejects. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const answered = await this.#handle(request, response)
      if (answered !== undefined) {
        send(request, response, answered instanceof Answer ? answered : jsonAnswer(answered))
      }
    } catch (error) {
      // Nobody is left to be answered.
      if (request.socket.destroyed) return
      const known = requestErrorOf(error)
      if (known === null) this.#onFault(error)
      if (response.headersSent) response.destroy()
      else send(request, response, errorAnswer(known ?? internalError))
    }
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const { method = '', url = '' } = request
    const [path = '', search = ''] = url.split(/\?(.*)/s, 2)
    if (!knownMethods.has(method)) {
      throw new RequestError('unknown_method', `${method} is no method of the dashboard.`)
    }
    const { methods, params } = this.#find(path)
    const handle = methods[(method === 'HEAD' ? 'GET' : method) as Method]
    // Before a body is read that nobody will look at.
    if (handle === undefined) throw notAllowed(path, Object.keys(methods))
    const body = method === 'GET' || method === 'HEAD' ? undefined : await readJsonBody(request)
    return handle({ query: parse(search), body, params, request, response })
  }

  #find(path: string): { methods: RouteTable[string]; params: Readonly<Record<string, string>> } {
    const segments = path.split('/')
    if (segments.some(({ length }) => length > maxSegmentLength)) {
      throw new RequestError('invalid_target', 'A part of the path is too long.', {}, 414)
    }
    const decoded = segments.map(decode)
    for (const [pattern, methods] of Object.entries(this.#routes)) {
      const parts = pattern.split('/')
      const isMatch = (part: string, at: number): boolean =>
        part.startsWith(':') ? segments[at] !== '' : part === segments[at]
      if (parts.length !== segments.length || !parts.every(isMatch)) continue
      const named = parts.flatMap((part, at) =>
        part.startsWith(':') ? [[part.slice(1), decoded[at] ?? ''] as const] : [],
      )
      return { methods, params: Object.fromEntries(named) }
    }
    throw new RequestError('not_found', `Nothing is answered under ${path.slice(0, 100)}.`)
  }
}

/** An answer without end must not wait for that of a request before it: nobody would tell it when its reader has left. */
export function expectOwnConnection({ socket }: ServerResponse): void {
  if (socket === null) {
    throw new RequestError('pipelined_stream', 'A stream needs a connection of its own.')
  }
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new RequestError('invalid_target', 'The path holds a broken escape.')
  }
}

function notAllowed(path: string, methods: readonly string[]): RequestError {
  const allow = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ')
  return new RequestError('method_not_allowed', `${path.slice(0, 100)} takes ${allow}.`, {
    headers: { allow },
  })
}

const internalError = new RequestError(
  'internal_error',
  "The dashboard met a fault of its own; what it was stands in the dashboard's output.",
)
