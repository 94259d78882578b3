// Writes the documents of both HTTP APIs in OpenAPI 3.1, out of their routes, the schemas of `src/api`, and the comments of both.
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type ConversionConfig, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema'
import * as api from '../src/api/answers.ts'
import { failureKinds } from '../src/call/failure.ts'
import { version } from '../src/cli/package-version.ts'
import { systemClock } from '../src/call/clock.ts'
import { makeDashboardServer } from '../src/dashboard/dashboard-server.ts'
import { pagePaths } from '../src/dashboard/http/page-assets.ts'
import { parameterSchema } from '../src/dashboard/http/query-parameters.ts'
import { errorStatuses } from '../src/dashboard/http/request-error.ts'
import type { AnswerNames, AnyRoute, RouteTable } from '../src/dashboard/http/app.ts'
import type { JsonSchema } from '../src/options/json-schema.ts'
import type { Schema } from '../src/options/schema.ts'
import { gatewayRoutes } from './gateway-routes.ts'
import { SourceComments } from './source-comments.ts'

/** The parts of a document that this program reads. */
export interface ApiDocument {
  readonly openapi: '3.1.1'
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}

interface Operation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, object>>
}

/** The description of one of the two APIs. */
interface Api {
  readonly title: string
  /** The tag of paths that are neither under `/api/` nor under `/v1/`. */
  readonly tag: string
  readonly about: string
  readonly server: object
  /** The name of the schema of its errors. */
  readonly error: 'ErrorBody' | 'OwnError'
  /** The comments of the routes. */
  readonly comments: SourceComments
  /** What each route answers and takes. */
  readonly routes: Readonly<Record<string, Pick<AnyRoute, 'answer'> & Partial<AnyRoute>>>
  readonly statuses: Readonly<Record<string, number | null>>
  readonly security: readonly object[]
}

const token = { type: 'apiKey', in: 'header', name: 'x-tokenweir-admin-token' }
const withToken = 'The admin token; this machine’s root and the user who runs it need none.'

/** The routes of the dashboard, which answer nothing here. */
function dashboardRoutes(): RouteTable {
  const none = {} as never
  const services = {
    process: none,
    log: none,
    queries: none,
    rawLog: none,
    jobs: none,
    alerts: none,
    clients: none,
    upstreams: none,
    models: none,
    testUpstream: none,
    notes: none,
  }
  const rules = { adminToken: null, thisMachine: none, demandsToken: false, allowedHosts: [] }
  return makeDashboardServer({
    ...services,
    priceFile: '',
    gateways: null,
    ...rules,
    clock: systemClock,
    onFault: () => {},
  }).routes
}

const codes = (kinds: typeof failureKinds): Record<string, number | null> =>
  Object.fromEntries(Object.entries(kinds).map(([code, { status }]) => [code, status]))

const dashboard = (routes: RouteTable): Api => ({
  title: 'tokenweir dashboard',
  tag: 'page',
  about:
    'What was recorded of model calls, what they cost, and the gateway’s process. Times are ISO 8601 in UTC; what is not ' +
    'known is null. A GET whose answer has an `ETag` answers 304 to who sends it as `If-None-Match`.',
  server: {
    url: '/',
    description: 'the dashboard that serves this document; http://127.0.0.1:9118 unless told',
  },
  error: 'ErrorBody',
  comments: new SourceComments('src/dashboard/routes/*-routes.ts'),
  routes,
  // Refusals of the gateway are passed on with their code.
  statuses: { ...codes(failureKinds), ...errorStatuses },
  security: [{}, { adminToken: [] }],
})

/** The gateway's routes of payloads take what those of the dashboard take. */
const gateway = (routes: RouteTable): Api => ({
  title: 'tokenweir gateway',
  tag: 'health',
  about:
    'The gateway’s own routes. Everything else under `/v1/`, and `/rerank`, `/reranking` and `/props`, is forwarded to the ' +
    'upstream as it is, whose own document describes it.',
  server: {
    url: 'http://{host}:{port}',
    variables: { host: { default: 'localhost' }, port: { default: '9090' } },
  },
  error: 'OwnError',
  comments: new SourceComments('build/gateway-routes.ts'),
  routes: Object.fromEntries(
    Object.entries(gatewayRoutes).map(([key, { answer }]) => {
      const alike = key.replace('/v1/raw-log/', '/api/raw-log/') as keyof RouteTable
      return [key, alike === key ? { answer } : { ...routes[alike], answer }]
    }),
  ),
  statuses: codes(failureKinds),
  security: [{}, { adminToken: [] }],
})

const comments = new SourceComments('src/{api/*,call/figures}.ts')
const refTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

/** The schemas of answers by their names, with the comments of their members. */
const named = Object.entries<object>(api).filter((entry): entry is [string, Schema] => 'kind' in entry[1])
const all: Readonly<Record<string, JsonSchema>> = Object.fromEntries(
  Object.entries(toJsonSchemaDefs(Object.fromEntries(named), conversion())).map(([name, schema]) => {
    const { doc } = comments.at(name)
    return [name, { ...told(schema as JsonSchema, name), ...(doc === '' ? {} : { description: doc }) }]
  }),
)

/** A schema with descriptions: each member's is the comment above it. */
function told(schema: JsonSchema, path: string): JsonSchema {
  const entries = Object.entries(schema).map(([key, part]) => {
    if (key === 'properties') {
      const members = Object.entries(part as Record<string, JsonSchema>).map(([name, value]) => {
        const own = comments.memberOf(path, name)
        const { doc } = comments.at(own)
        return [name, { ...told(value, own), ...(doc === '' ? {} : { description: doc }) }]
      })
      return [key, Object.fromEntries(members)]
    }
    if (key === 'anyOf') return [key, (part as readonly JsonSchema[]).map((one) => told(one, path))]
    return [key, key === 'items' || key === 'additionalProperties' ? told(part as JsonSchema, path) : part]
  })
  return Object.fromEntries(entries) as JsonSchema
}

/** The schemas that a part of a document refers to, and those that these refer to. */
function referredBy(part: unknown, found: Record<string, JsonSchema> = {}): Record<string, JsonSchema> {
  for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    const schema = all[name]
    if (schema === undefined || name in found) continue
    found[name] = schema
    referredBy(schema, found)
  }
  return found
}

/** Makes a document. Throws where a route has no comment, or names an error code that there is not. */
function documentOf(api: Api): ApiDocument {
  const paths: Record<string, Record<string, Operation>> = {}
  const error = refTo(api.error)
  for (const [name, { answer, query, body }] of Object.entries(api.routes)) {
    const [method = '', path = ''] = name.split(' ')
    const { doc: words, fails } = api.comments.at(name)
    if (words === '') throw new Error(`${name} has no comment`)
    const [summary = ''] = words.split(/(?<=[.:;]) /, 1)
    const at = (paths[path.replaceAll(/:(\w+)/g, '{$1}')] ??= {})
    at[method.toLowerCase()] = {
      operationId: operationId(method, path),
      tags: [/^\/(?:api|v1)\/([\w-]+)/.exec(path)?.[1] ?? api.tag],
      summary: summary.replace(/[.:;]$/, ''),
      description: words,
      parameters: [
        ...[...path.matchAll(/:(\w+)/g)].map(([, part]) => ({
          name: part,
          in: 'path',
          required: true,
          schema: { type: 'string' },
        })),
        ...Object.entries(query ?? {}).map(([parameter, taken]) => {
          const { description, ...schema } = parameterSchema(taken)
          const required = taken.default === undefined
          return { name: parameter, in: 'query', required, description, schema }
        }),
      ],
      ...(body === undefined
        ? {}
        : {
            requestBody: {
              required: body.type !== 'nullish',
              content: { 'application/json': { schema: jsonSchemaOf(body) } },
            },
          }),
      responses: {
        ...answersOf(answer),
        ...failuresOf(name, fails, api.statuses, error),
        default: { description: 'Another error.', content: { 'application/json': { schema: error } } },
      },
    } as Operation
  }
  const codes = Object.keys(api.statuses).filter((code) => api.statuses[code] !== null)
  return {
    openapi: '3.1.1',
    info: { title: api.title, version, description: api.about, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [api.server],
    security: api.security,
    paths,
    components: {
      schemas: withCodes(referredBy([paths, error]), api.error, codes.sort()),
      securitySchemes: { adminToken: { ...token, description: withToken } },
    },
  } as ApiDocument
}

/** The body that a route takes. */
function jsonSchemaOf(schema: Schema): JsonSchema {
  const { $schema: _, $defs: __, ...converted } = toJsonSchema(schema, conversion())
  return converted
}

/** Where a schema's type alone does not say what it takes, `v.metadata({ jsonSchema })` does. */
function conversion(): ConversionConfig {
  return {
    target: 'draft-2020-12',
    // Rules and transformations have no form in JSON schema.
    errorMode: 'ignore',
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
    overrideSchema: ({ valibotSchema: one, jsonSchema: converted }) => {
      delete converted.propertyNames
      if (one.type === 'nullable' && converted.anyOf?.[0] !== undefined)
        return orNull(converted.anyOf[0] as JsonSchema)
      return one.type === 'lazy' && 'options' in one
        ? { anyOf: (one.options as readonly Schema[]).map((option) => jsonSchemaOf(option)) }
        : converted
    },
    overrideAction: ({ valibotAction: action }) => {
      if ('values' in action)
        return { type: 'object', additionalProperties: jsonSchemaOf(action.values as Schema) }
      return 'metadata' in action ? (action.metadata as { readonly jsonSchema: object }).jsonSchema : null
    },
  }
}

function orNull({ type, enum: values, anyOf, ...more }: JsonSchema): JsonSchema {
  const isPlain = typeof type === 'string'
  if (isPlain)
    return {
      type: [type, 'null'],
      ...(values === undefined ? {} : { enum: [...(values as []), null] }),
      ...more,
    }
  return { anyOf: [...((anyOf ?? [more]) as readonly object[]), { type: 'null' }] }
}

/** `getProxyStatus` of `GET /api/proxy/status`, `getCallsIdPayloads` of `GET /api/calls/:id/payloads`, `getCostsPage` of `GET /costs`. */
function operationId(method: string, path: string): string {
  const isPage = pagePaths.includes(path)
  const words = [...(path.replace(/^\/(?:api|v1)\b/, '').match(/\w+/g) ?? []), ...(isPage ? ['page'] : [])]
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

/** The responses of a route, by status. */
function answersOf(answer: AnswerNames): object {
  const responses: Record<string, { description: string; content?: Record<string, object> }> = {}
  const answers = typeof answer === 'string' ? { 200: answer } : answer
  for (const [key, name] of Object.entries(answers)) {
    const [status = '', contentType = 'application/json'] = key.split(' ')
    const response = (responses[status] ??= { description: words[status] ?? 'Done.' })
    if (status === '204') continue
    const isEvents = contentType === 'text/event-stream'
    const schema = name === null || isEvents ? { type: 'string' } : refTo(name)
    const content = { schema, ...(isEvents && name !== null ? { 'x-event-data': refTo(name) } : {}) }
    response.content = { ...response.content, [contentType]: content }
  }
  return responses
}

const words: Readonly<Record<string, string>> = {
  202: 'Begun.',
  204: 'Done; there is nothing to tell.',
  401: 'The page to sign in.',
  503: 'As 200, while it finishes its last calls.',
}

/** The errors that a route alone has, by status. */
function failuresOf(
  route: string,
  fails: readonly string[],
  statuses: Api['statuses'],
  error: JsonSchema,
): object {
  const byStatus: Record<string, string[]> = {}
  for (const code of fails) {
    const status = statuses[code]
    if (typeof status !== 'number') throw new Error(`${route}: ${code} is no code that is answered`)
    ;(byStatus[status] ??= []).push(code)
  }
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, all]) => [
      status,
      {
        description: all.map((code) => `\`${code}\``).join(', '),
        content: { 'application/json': { schema: error } },
        'x-codes': all,
      },
    ]),
  )
}

/** The error's `code` is one of these. */
function withCodes(
  components: Readonly<Record<string, JsonSchema>>,
  name: string,
  all: readonly string[],
): Record<string, JsonSchema> {
  const text = JSON.stringify(components[name], (key, value: unknown) =>
    key === 'code' ? { ...(value as object), enum: all } : value,
  )
  return { ...components, [name]: JSON.parse(text) as JsonSchema }
}

/** The documents by the names of their files. */
export function apiDocuments(): Readonly<Record<string, ApiDocument>> {
  const routes = dashboardRoutes()
  return {
    'openapi.json': documentOf(dashboard(routes)),
    'openapi-gateway.json': documentOf(gateway(routes)),
  }
}

if (import.meta.main) {
  const folder = fileURLToPath(new URL('../dist/', import.meta.url))
  mkdirSync(folder, { recursive: true })
  for (const [name, document] of Object.entries(apiDocuments())) {
    writeFileSync(`${folder}${name}`, `${JSON.stringify(document)}\n`)
  }
}
