// Writes the documents of both HTTP APIs in OpenAPI 3.1, out of their routes and the types of what these answer.
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { toJsonSchema } from '@valibot/to-json-schema'
import { namedFields } from '../src/call/call-fields.ts'
import { failureKinds } from '../src/call/failure.ts'
import { version } from '../src/cli/package-version.ts'
import { systemClock } from '../src/call/clock.ts'
import { makeDashboardServer } from '../src/dashboard/dashboard-server.ts'
import { pagePaths } from '../src/dashboard/http/page-assets.ts'
import { parameterSchema } from '../src/dashboard/http/query-parameters.ts'
import { errorStatuses } from '../src/dashboard/http/request-error.ts'
import type { AnyRoute, RouteTable } from '../src/dashboard/http/app.ts'
import type { RouteAnswers } from '../src/dashboard/routes/route-answers.ts'
import type { OwnAnswers } from '../src/gateway/http/own-answers.ts'
import type { JsonSchema } from '../src/options/json-schema.ts'
import type { Schema } from '../src/options/schema.ts'
import { TypeSchemas } from './type-schemas.ts'

/** A document, by its parts that are looked at. */
export interface ApiDocument {
  readonly openapi: '3.1.1'
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}

interface Operation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, object>>
}

/** What tells one of the two APIs. */
interface Api {
  readonly title: string
  /** Of what is neither under `/api/` nor under `/v1/`. */
  readonly tag: string
  readonly about: string
  readonly server: object
  /** The file and the name of the type that holds what its routes answer. */
  readonly answers: readonly [file: string, name: string]
  readonly error: readonly [file: string, name: string]
  /** What each route takes. */
  readonly routes: Readonly<Record<string, Partial<AnyRoute>>>
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
  answers: ['dashboard/routes/route-answers.ts', 'RouteAnswers'],
  error: ['api/error-body.ts', 'ErrorBody'],
  routes,
  // What the gateway refuses is passed on with its code.
  statuses: { ...codes(failureKinds), ...errorStatuses },
  security: [{}, { adminToken: [] }],
})

/** The gateway's routes of payloads take what those of the dashboard take. */
const gateway = (routes: Readonly<Record<string, AnyRoute | undefined>>): Api => ({
  title: 'tokenweir gateway',
  tag: 'health',
  about:
    'The gateway’s own routes. Everything else under `/v1/`, and `/rerank`, `/reranking` and `/props`, is forwarded to the ' +
    'upstream as it is, whose own document describes it.',
  server: {
    url: 'http://{host}:{port}',
    variables: { host: { default: 'localhost' }, port: { default: '9090' } },
  },
  answers: ['gateway/http/own-answers.ts', 'OwnAnswers'],
  error: ['gateway/http/own-answers.ts', 'OwnError'],
  routes: Object.fromEntries(
    Object.entries(routes).map(([key, route]) => [key.replace('/api/raw-log/', '/v1/raw-log/'), route ?? {}]),
  ),
  statuses: codes(failureKinds),
  security: [{}, { adminToken: [] }],
})

/** Makes a document. Throws where a route has no answers, or names an error code that there is not. */
function documentOf(api: Api): ApiDocument {
  using schemas = new TypeSchemas()
  const paths: Record<string, Record<string, Operation>> = {}
  const error = schemas.of(schemas.named(...api.error))
  for (const { name, doc, fails, type } of schemas.members(schemas.named(...api.answers))) {
    const [method = '', path = ''] = name.split(' ')
    const about = schemas.about(type)
    const { query, body } = api.routes[name] ?? {}
    const words = doc === '' ? about.doc : doc
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
        ...answersOf(schemas, type),
        ...failuresOf(name, [...about.fails, ...fails], api.statuses, error),
        default: { description: 'Another error.', content: { 'application/json': { schema: error } } },
      },
    } as Operation
  }
  tellFields(schemas.components)
  const [, errorName] = api.error
  const told = Object.entries(api.statuses).filter(([, status]) => status !== null)
  return {
    openapi: '3.1.1',
    info: { title: api.title, version, description: api.about, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [api.server],
    security: api.security,
    paths,
    components: {
      schemas: withCodes(schemas.components, errorName, told.map(([code]) => code).sort()),
      securitySchemes: { adminToken: { ...token, description: withToken } },
    },
  } as ApiDocument
}

/** What a schema takes. Where its type alone does not say it, `v.metadata({ jsonSchema })` does. */
function jsonSchemaOf(schema: Schema): JsonSchema {
  const {
    $schema: _,
    $defs: __,
    ...converted
  } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    // Rules and transformations have no form in JSON schema.
    errorMode: 'ignore',
    overrideSchema: ({ valibotSchema: one }) =>
      one.type === 'lazy' && 'options' in one
        ? { anyOf: (one.options as readonly Schema[]).map((option) => jsonSchemaOf(option)) }
        : null,
    overrideAction: ({ valibotAction: action }) => {
      if ('values' in action)
        return { type: 'object', additionalProperties: jsonSchemaOf(action.values as Schema) }
      return 'metadata' in action ? (action.metadata as { readonly jsonSchema: object }).jsonSchema : null
    },
  })
  return converted
}

/** `getProxyStatus` of `GET /api/proxy/status`, `getCallsIdPayloads` of `GET /api/calls/:id/payloads`, `getCostsPage` of `GET /costs`. */
function operationId(method: string, path: string): string {
  const isPage = pagePaths.includes(path)
  const words = [...(path.replace(/^\/(?:api|v1)\b/, '').match(/\w+/g) ?? []), ...(isPage ? ['page'] : [])]
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

/** By status: the members of a type are named `200`, or `200 text/csv`. */
function answersOf(schemas: TypeSchemas, type: Parameters<TypeSchemas['members']>[0]): object {
  const responses: Record<string, { description: string; content?: Record<string, object> }> = {}
  for (const { name, type: own } of schemas.members(type)) {
    const [status = '', contentType = 'application/json'] = name.split(' ')
    const response = (responses[status] ??= { description: words[status] ?? 'Done.' })
    if (status === '204') continue
    const isEvents = contentType === 'text/event-stream'
    const schema = contentType === 'application/json' ? schemas.of(own) : { type: 'string' }
    const content = { schema, ...(isEvents ? { 'x-event-data': schemas.of(own) } : {}) }
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

/** A call's fields are told in the words of their table. */
function tellFields(components: Record<string, JsonSchema>): void {
  for (const name of ['CallJson', 'OverviewCall']) {
    const properties = components[name]?.['properties'] as Record<string, JsonSchema> | undefined
    for (const { name: field, doc } of properties === undefined ? [] : namedFields) {
      const schema = properties?.[field]
      if (properties !== undefined && schema !== undefined)
        properties[field] = { ...schema, description: doc }
    }
  }
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

/** Every route that has answers; those of the dashboard have to be all that there are. */
export type DescribedRoute = keyof RouteAnswers | keyof OwnAnswers

if (import.meta.main) {
  const folder = fileURLToPath(new URL('../dist/', import.meta.url))
  mkdirSync(folder, { recursive: true })
  for (const [name, document] of Object.entries(apiDocuments())) {
    writeFileSync(`${folder}${name}`, `${JSON.stringify(document)}\n`)
  }
}
