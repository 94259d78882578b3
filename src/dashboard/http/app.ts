import type { IncomingMessage, ServerResponse } from 'node:http'
import { parse } from 'node:querystring'
import { type Readable, pipeline } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { type Context, Hono } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type * as v from 'valibot'
import type * as schemas from '../../api/answers.ts'
import type { Infer } from '../../call/infer.ts'
import { CodedError } from '../../lib/errors.ts'
import type { Schema } from '../../options/schema.ts'
import { errorParts, json, leaveBody } from './answer.ts'
import { type QueryParameter, type QueryTable, readQuery } from './query-parameters.ts'
import { checkedBody, readJsonBody } from './request-body.ts'
import { type ErrorCode, RequestError } from './request-error.ts'

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'])

/**
 * Most characters of a path segment. A model's name has some hundred characters, each of which may take three
 * if escaped.
 */
const maxSegmentLength = 2000

interface AppEnv {
  readonly Bindings: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse }
}

/** A request as Hono has it; `c.env` has Node's own request and response. */
export type RouteContext = Context<AppEnv>

/** The name of a schema in `src/api`. */
type AnswerName = { [N in keyof Schemas]: Schemas[N] extends v.GenericSchema ? N : never }[keyof Schemas]
type Schemas = typeof schemas

/** The name of an answer's schema, or names by status and, unless JSON, content type. Null means any text. */
export type AnswerNames =
  | AnswerName
  | { readonly [status: number | `${number} ${string}`]: AnswerName | null }

/** The JSON that a handler may return. */
type RouteAnswer<A> = Infer<Schemas[Extract<A extends string ? A : A[keyof A], AnswerName>]>

type Reply<A> = Response | RouteAnswer<A>

/** The answer, query and body of a method of a path. */
export interface RouteInput<A, Q, B> {
  readonly answer: A
  /** The query's parameters; absent for none, null for any query. */
  readonly query?: QueryTable<Q> | null
  /** The schema of the body; absent if the handler reads no body. */
  readonly body?: Schema<B>
  /** The error code for a wrong body (default: `invalid_body`). */
  readonly refusal?: ErrorCode
}

/** A route with its types closed. */
export interface AnyRoute extends Pick<RouteInput<AnswerNames, unknown, unknown>, 'answer'> {
  readonly handle: (c: RouteContext) => Promise<Response>
  /** The query's parameters; null for any query. */
  readonly query: Readonly<Record<string, QueryParameter<unknown>>> | null
  /** The schema of the body; undefined if the handler reads no body. */
  readonly body: Schema | undefined
}

/** Routes by method and path, such as `GET /api/db`. `:name` matches one segment; GET also answers HEAD. */
export type RouteTable = Readonly<Record<`${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`, AnyRoute>>

/**
 * A route: one method of a path. The handler gets the checked query and body, and returns a response, or a value to
 * send as JSON. The comment above a route is its description in the API's document; `@fails` lists the error codes
 * beyond those of every route.
 */
export function route<const A extends AnswerNames, Q = Readonly<Record<string, unknown>>, B = unknown>(
  { answer, query, body, refusal }: RouteInput<A, Q, B>,
  answerOf: (c: RouteContext, input: { readonly query: Q; readonly body: B }) => Reply<A> | Promise<Reply<A>>,
): AnyRoute {
  const table = query === undefined ? ({} as QueryTable<Q>) : query
  const handle = async (c: RouteContext): Promise<Response> => {
    const { incoming } = c.env
    const isReading = c.req.method === 'GET' || c.req.method === 'HEAD'
    const json = isReading ? undefined : await readJsonBody(incoming)
    const texts = parse(incoming.url?.split(/\?(.*)/s, 2)[1] ?? '', '&', '=', { maxKeys: 0 })
    const reply = await answerOf(c, {
      query: table === null ? (texts as Q) : readQuery(texts, table),
      body: body === undefined ? (json as B) : checkedBody(body, json, refusal),
    })
    return reply instanceof Response ? reply : jsonAnswer(c, reply)
  }
  return { answer, handle, query: table, body }
}

/** The response with a value as JSON. */
export function jsonAnswer(c: RouteContext, value: unknown, status: ContentfulStatusCode = 200): Response {
  return bytes(c, Buffer.from(JSON.stringify(value)), { 'Content-Type': json }, status)
}

/** Sends a stream as it arrives. If the stream breaks, so does the connection; if the reader leaves, the stream ends. */
export function sendStream(
  c: RouteContext,
  body: Readable,
  headers: Readonly<Record<string, string>>,
): Response {
  const { outgoing } = c.env
  outgoing.writeHead(200, headers)
  // Written without Hono: its server would append an error to a broken stream, and end the response as if it were complete.
  if (c.req.method === 'HEAD') {
    body.destroy()
    outgoing.end()
  } else pipeline(body, outgoing, () => {})
  return RESPONSE_ALREADY_SENT
}

/** The response with these bytes and headers. */
export function bytes(
  c: RouteContext,
  body: Uint8Array,
  headers: Readonly<Record<string, string>>,
  status: ContentfulStatusCode = 200,
): Response {
  // HEAD also needs the length, because Hono answers HEAD without a body.
  const length = { 'Content-Length': String(body.byteLength) }
  return c.body(body as Uint8Array<ArrayBuffer>, status, { ...headers, ...length })
}

/** Answers requests by a table of routes. `onFault` gets internal errors, which clients never see. */
export function makeApp(
  routes: RouteTable,
  { isClosing, onFault }: { readonly isClosing: () => boolean; readonly onFault: (error: unknown) => void },
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  // The path is matched in the form that the guard has checked.
  const app = new Hono<AppEnv>({ getPath: (_, options) => pathOf(options?.env as AppEnv['Bindings']) })
  app.use(async (c, next) => {
    if (isClosing()) {
      c.env.outgoing.shouldKeepAlive = false
      throw new RequestError('closing', 'The dashboard is closing.')
    }
    if (!knownMethods.has(c.req.method)) {
      throw new RequestError('unknown_method', `The dashboard does not support the method ${c.req.method}.`)
    }
    expectDecodable(c.req.path)
    await next()
  })
  const methods = new Map<string, string[]>()
  for (const [key, { handle }] of Object.entries(routes)) {
    const [method = '', path = ''] = key.split(' ')
    app.on(method, path, handle)
    methods.set(path, [...(methods.get(path) ?? []), method === 'GET' ? 'GET, HEAD' : method])
  }
  for (const [path, taken] of methods) {
    const allow = taken.join(', ')
    app.all(path, (c) => {
      const message = `${c.req.path.slice(0, 100)} accepts only ${allow}.`
      throw new RequestError('method_not_allowed', message, { headers: { allow } })
    })
  }
  app.notFound((c) => {
    if (c.req.header('accept')?.includes('text/html') === true) return c.html(noPage, 404)
    const isCall = c.req.path.startsWith('/v1/')
    const advice = isCall ? ': this is the dashboard; calls go to the gateway, on port 9090 by default' : ''
    throw new RequestError('not_found', `There is nothing under ${c.req.path.slice(0, 100)}${advice}.`)
  })
  app.onError((error, c) => {
    const { outgoing } = c.env
    const isKnown = error instanceof CodedError
    if (!isKnown && !outgoing.destroyed) onFault(error)
    if (outgoing.headersSent) {
      outgoing.destroy()
      return RESPONSE_ALREADY_SENT
    }
    const { status, headers, body } = errorParts(isKnown ? error : internalError)
    return c.body(body, status as ContentfulStatusCode, headers)
  })
  const answer = getRequestListener(
    async (request, env) => {
      const { incoming, outgoing } = env as AppEnv['Bindings']
      const response = await app.fetch(request, env)
      leaveBody(incoming, outgoing)
      return response
    },
    { autoCleanupIncoming: false },
  )
  return (request, response) => {
    // The guard has checked the Host. Hono's server would refuse some spellings of an address.
    request.headers.host = 'localhost'
    return answer(request, response)
  }
}

function pathOf({ incoming }: AppEnv['Bindings']): string {
  return incoming.url?.split('?', 1)[0] ?? ''
}

/** Refuses a stream behind a pipelined request: it would not notice when its reader leaves. Throws {@link RequestError}. */
export function expectOwnConnection({ socket }: ServerResponse): void {
  if (socket === null) throw new RequestError('pipelined_stream', 'A stream needs a separate connection.')
}

function expectDecodable(path: string): void {
  if (path.split('/').some(({ length }) => length > maxSegmentLength)) {
    throw new RequestError('invalid_target', 'A part of the path is too long.', { status: 414 })
  }
  try {
    decodeURIComponent(path)
  } catch {
    throw new RequestError('invalid_target', 'The path has an invalid percent escape.')
  }
}

const internalError = new RequestError(
  'internal_error',
  'The dashboard had an internal error; see its output for details.',
)

/** The page for an unknown address. */
const noPage =
  '<!doctype html><html lang="en"><title>No such page · tokenweir</title>' +
  '<p>There is no page at this address. <a href="/">Go to the Overview</a></p></html>'
