import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ParsedUrlQuery, parse } from 'node:querystring'
import { CodedError } from '../../lib/errors.ts'
import type { Schema } from '../../options/schema.ts'
import { Answer, errorAnswer, jsonAnswer, send } from './answer.ts'
import { type QueryParameter, type QueryTable, readQuery } from './query-parameters.ts'
import { checkedBody, readJsonBody } from './request-body.ts'
import { type ErrorCode, RequestError } from './request-error.ts'

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

/** What a method of a path takes. */
export interface Taken<Q, B> {
  /** Absent if it takes none; null if any will do. */
  readonly query?: QueryTable<Q> | null
  /** Absent if the body is not looked at. */
  readonly body?: Schema<B>
  /** The code of the refusal of a wrong body; `invalid_body` if absent. */
  readonly refusal?: ErrorCode
}

type RawAsked = Asked<ParsedUrlQuery, unknown>

/** A route with its types closed, and what it takes. */
export interface AnyRoute {
  (asked: RawAsked): unknown
  /** Null if any query will do. */
  readonly query: Readonly<Record<string, QueryParameter<unknown>>> | null
  /** Undefined if the body is not looked at. */
  readonly body: Schema | undefined
}

/** By method and path, as in `GET /api/db`. `:name` stands for any part of a path; GET answers HEAD, too. */
export type RouteTable = Readonly<Record<`${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`, AnyRoute>>

/**
 * One method of a path. Its handler is given a query and a body that are as it says, and returns an {@link Answer}, or a
 * value that is answered as JSON.
 */
export function route<Q = unknown, B = unknown>(
  { query, body, refusal }: Taken<Q, B>,
  handle: (asked: Asked<Q, B>) => unknown,
): AnyRoute {
  const table = query === undefined ? ({} as QueryTable<Q>) : query
  const answer = (asked: RawAsked): unknown =>
    handle({
      ...asked,
      query: table === null ? (asked.query as Q) : readQuery(asked.query, table),
      body: body === undefined ? (asked.body as B) : checkedBody(body, asked.body, refusal),
    })
  return Object.assign(answer, { query: table, body })
}

/** Answers a request. Never rejects. */
export type Answering = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/**
 * Answers requests by a table of routes: every error, whoever throws it, in the one shape. `onFault` is told of faults of
 * our own, which are never shown to who asked.
 */
export function answerBy(routes: RouteTable, onFault: (error: unknown) => void): Answering {
  const known = Object.entries(routes).map(([key, answer]) => {
    const [method = '', path = ''] = key.split(' ')
    return { method, pattern: new RegExp(`^${path.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')}$`), answer }
  })
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    const { method = '', url = '' } = request
    const [path = '', search = ''] = url.split(/\?(.*)/s, 2)
    if (!knownMethods.has(method)) {
      throw new RequestError('unknown_method', `${method} is no method of the dashboard.`)
    }
    expectDecodable(path)
    const found = known.filter(({ pattern }) => pattern.test(path))
    if (found.length === 0) {
      throw new RequestError('not_found', `Nothing is answered under ${path.slice(0, 100)}.`)
    }
    const sought = method === 'HEAD' ? 'GET' : method
    const one = found.find((route) => route.method === sought)
    // Before a body is read that nobody will look at.
    if (one === undefined) throw notAllowed(path, found)
    const named = Object.entries(one.pattern.exec(path)?.groups ?? {})
    const params = Object.fromEntries(named.map(([name, part]) => [name, decodeURIComponent(part)]))
    const body = method === 'GET' || method === 'HEAD' ? undefined : await readJsonBody(request)
    return one.answer({ query: parse(search, '&', '=', { maxKeys: 0 }), body, params, request, response })
  }
  return async (request, response) => {
    try {
      const answered = await handle(request, response)
      if (answered !== undefined) {
        send(request, response, answered instanceof Answer ? answered : jsonAnswer(answered))
      }
    } catch (error) {
      // Nobody is left to be answered.
      if (request.socket.destroyed) return
      const known = error instanceof CodedError ? error : null
      if (known === null) onFault(error)
      if (response.headersSent) response.destroy()
      else send(request, response, errorAnswer(known ?? internalError))
    }
  }
}

/** An answer without end must not wait for that of a request before it: nobody would tell it when its reader has left. */
export function expectOwnConnection({ socket }: ServerResponse): void {
  if (socket === null) {
    throw new RequestError('pipelined_stream', 'A stream needs a connection of its own.')
  }
}

function expectDecodable(path: string): void {
  if (path.split('/').some(({ length }) => length > maxSegmentLength)) {
    throw new RequestError('invalid_target', 'A part of the path is too long.', { status: 414 })
  }
  try {
    decodeURIComponent(path)
  } catch {
    throw new RequestError('invalid_target', 'The path holds a broken escape.')
  }
}

function notAllowed(path: string, routes: readonly { readonly method: string }[]): RequestError {
  const allow = routes.map(({ method }) => (method === 'GET' ? 'GET, HEAD' : method)).join(', ')
  return new RequestError('method_not_allowed', `${path.slice(0, 100)} takes ${allow}.`, {
    headers: { allow },
  })
}

const internalError = new RequestError(
  'internal_error',
  "The dashboard met a fault of its own; what it was stands in the dashboard's output.",
)
