import type { FastifyInstance } from 'fastify'
import { parseIsoTime } from '../../lib/iso-instant.ts'
import { isTimeZone } from '../../lib/zoned-time.ts'
import type { JobStarter } from '../../supervisor/database-jobs.ts'
import type { PriceSyncer } from '../../supervisor/price-sync-job.ts'
import { optional } from '../http/query-parameters.ts'
import { QueryReplies } from './query-reply.ts'
import { instantOf, isoTime } from './query-request.ts'
import type { QuerySource } from './query-source.ts'
import type { PriceWriter } from './price-writer.ts'
import { RequestProblem } from '../http/request-problem.ts'
import { addRoutes, route } from '../http/route-table.ts'

/** JSON schema of what re-pricing may be told. */
const repriceOrder = {
  type: 'object',
  properties: {
    from: { type: 'string' },
    to: { type: 'string' },
    model: { type: 'string', minLength: 1, maxLength: 2000, pattern: '\\S' },
    only_unpriced: { type: 'boolean' },
    dry_run: { type: 'boolean' },
    tz: { type: 'string' },
  },
  required: ['from', 'to'],
  additionalProperties: false,
}

/** A body that {@link repriceOrder} lets through. */
interface RepriceBody {
  readonly from: string
  readonly to: string
  readonly model?: string
  readonly only_unpriced?: boolean
  readonly dry_run?: boolean
  readonly tz?: string
}

/** What the routes of prices need. */
export interface CostRoutesOptions {
  readonly queries: QuerySource
  readonly jobs: JobStarter
  readonly sync: PriceSyncer
  readonly prices: PriceWriter
}

/** `/api/costs`: the prices in force, one's own, syncing them, and what they say of recorded calls. */
export function addCostRoutes(
  app: FastifyInstance,
  { queries, jobs, sync, prices }: CostRoutesOptions,
): void {
  const replies = new QueryReplies()
  addRoutes(app, '/api/costs', {
    GET: route({
      handle: async (_, reply) =>
        await replies.send(
          reply,
          await queries.ask({ kind: 'costs', sync: sync.state, fileState: prices.fileState() }),
        ),
    }),
  })
  addRoutes(app, '/api/costs/matches', {
    GET: route({
      query: { from: optional(isoTime), to: optional(isoTime) },
      handle: async ({ query: { from, to } }, reply) => {
        const fromMs = from === null ? null : instantOf(from)
        const toMs = to === null ? null : instantOf(to)
        if (fromMs !== null && toMs !== null && toMs <= fromMs)
          throw mismatch('to', 'to must be later than from.')
        const question = {
          kind: 'matches',
          fromMs,
          toMs,
          fileState: prices.fileState(),
        } as const
        return await replies.send(reply, await queries.ask(question))
      },
    }),
  })
  addRoutes(app, '/api/costs/overrides/:name', {
    PUT: route({
      body: {},
      handle: async ({ body }, reply) => await prices.set(nameIn(reply.request.params), body),
    }),
    DELETE: route({
      handle: async (_, reply) => {
        const name = nameIn(reply.request.params)
        if (await prices.remove(name)) return { removed: name }
        const message = `No price of your own is set for ${JSON.stringify(name.slice(0, 100))}.`
        throw new RequestProblem(404, 'price_not_found', message, { param: 'name' })
      },
    }),
  })
  addRoutes(app, '/api/costs/sync', {
    POST: route({
      handle: (_, reply) => {
        if (sync.start()) return reply.code(202).send({ status: 'started' })
        throw new RequestProblem(409, 'sync_running', 'The prices are being synced already.')
      },
    }),
  })
  addRoutes(app, '/api/costs/reprice', {
    POST: route({
      body: repriceOrder,
      handle: async ({ body }, reply) => {
        const { dry_run: dryRun = false, model = null, ...said } = body as RepriceBody
        const { only_unpriced: onlyUnpriced = false, tz: timeZone = 'UTC' } = said
        if (!isTimeZone(timeZone)) {
          const message = `tz must be an IANA time zone, such as Europe/Berlin; got ${shown(timeZone)}`
          throw mismatch('tz', message)
        }
        const fromMs = instantIn('from', said.from, timeZone)
        const toMs = instantIn('to', said.to, timeZone)
        if (toMs <= fromMs) throw mismatch('to', 'to must be later than from.')
        const run = jobs.reprice({ fromMs, toMs, model, onlyUnpriced, dryRun, timeZone })
        if (dryRun) return run.result
        const job = await run.begun
        return reply.code(202).send(job)
      },
    }),
  })
}

function nameIn(params: unknown): string {
  return (params as { readonly name: string }).name
}

function instantIn(param: string, text: string, timeZone: string): number {
  const found = parseIsoTime(text)
  if (found !== null) return instantOf(found, timeZone)
  throw mismatch(param, `${param} must be ${isoTime.range}; got ${shown(text)}`)
}

function mismatch(param: string, message: string): RequestProblem {
  return new RequestProblem(400, 'invalid_parameter', message, { param })
}

function shown(value: unknown): string {
  return JSON.stringify(value).slice(0, 100)
}
