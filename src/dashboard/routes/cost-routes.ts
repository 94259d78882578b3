import type { Clock } from '../../call/clock.ts'
import { changePrices } from '../../pricing/change-prices.ts'
import { ownPrice, withOverride, withoutOverride } from '../../pricing/overrides.ts'
import { priceFileState } from '../../pricing/prices-in-force.ts'
import * as json from '../../options/json-check.ts'
import { timeZone } from '../../options/value-kind.ts'
import { jsonAnswer } from '../http/answer.ts'
import { optional, readParameter } from '../http/query-parameters.ts'
import { RequestError } from '../http/request-error.ts'
import { type RouteTable, route } from '../http/router.ts'
import type { DashboardParts } from './dashboard-parts.ts'
import { answerQuery } from './query-reply.ts'
import { expectOrder, instantOf, isoTime } from './query-request.ts'

const modelName = json.only(
  'a name of 1 to 2000 characters, none of them NUL',
  (value): value is string => typeof value === 'string' && /^(?=.*\S)[^\0]{1,2000}$/s.test(value),
  { type: 'string', minLength: 1, maxLength: 2000 },
)

/** The body of an order to re-price. */
const repriceOrder = json.object({
  from: json.text,
  to: json.text,
  model: json.optional(modelName),
  only_unpriced: json.optional(json.flag),
  dry_run: json.optional(json.flag),
  tz: json.optional(json.text),
})

/** What is wrong with a price is told in the words of prices. */
const anyPrice = json.described<unknown>(ownPrice.schema, (body) => body)

/** `/api/costs`: the prices in force, one's own, syncing them, and what they say of recorded calls. */
export function costRoutes(
  { queries, jobs, priceFile }: Pick<DashboardParts, 'queries' | 'jobs' | 'priceFile'>,
  clock: Clock,
): RouteTable {
  return {
    'GET /api/costs': route({}, async ({ request }) => {
      const fileState = priceFileState(priceFile)
      return answerQuery(request, await queries.ask({ kind: 'costs', sync: jobs.sync, fileState }))
    }),
    'GET /api/costs/matches': route(
      { query: { from: optional(isoTime), to: optional(isoTime) } },
      async ({ request, query: { from, to } }) => {
        const fromMs = from === null ? null : instantOf(from)
        const toMs = to === null ? null : instantOf(to)
        expectOrder(fromMs, toMs)
        const fileState = priceFileState(priceFile)
        return answerQuery(request, await queries.ask({ kind: 'matches', fromMs, toMs, fileState }))
      },
    ),
    'PUT /api/costs/overrides/:name': route({ body: anyPrice }, ({ params: { name = '' }, body }) =>
      changePrices(priceFile, (before) => {
        const { costs, entry } = withPrice(before, name, body, new Date(clock.wallTime()).toISOString())
        return [costs, entry]
      }),
    ),
    'DELETE /api/costs/overrides/:name': route({}, async ({ params: { name = '' } }) => {
      const isRemoved = await changePrices(priceFile, (before) => {
        const costs = withoutOverride(before, name)
        return [costs, costs !== null]
      })
      if (isRemoved) return { removed: name }
      const message = `No price of your own is set for ${JSON.stringify(name.slice(0, 100))}.`
      throw new RequestError('price_not_found', message, { param: 'name' })
    }),
    'POST /api/costs/sync': route({}, () => {
      if (jobs.startSync()) return jsonAnswer({ status: 'started' }, 202)
      throw new RequestError('sync_running', 'The prices are being synced already.')
    }),
    'POST /api/costs/reprice': route({ body: repriceOrder }, async ({ body }) => {
      const { model = null, only_unpriced: onlyUnpriced = false, dry_run: dryRun = false } = body
      const tz = readParameter('tz', timeZone, body.tz ?? 'UTC')
      const fromMs = instantOf(readParameter('from', isoTime, body.from), tz)
      const toMs = instantOf(readParameter('to', isoTime, body.to), tz)
      expectOrder(fromMs, toMs)
      const run = jobs.reprice({ fromMs, toMs, model, onlyUnpriced, dryRun, timeZone: tz })
      return dryRun ? run.result : jsonAnswer(await run.begun, 202)
    }),
  }
}

function withPrice(...price: Parameters<typeof withOverride>): ReturnType<typeof withOverride> {
  try {
    return withOverride(...price)
  } catch (error) {
    if (!(error instanceof json.JsonValueError)) throw error
    const { path, allowed, got } = error
    const param = String(path[0])
    const shown = got === undefined ? 'nothing' : JSON.stringify(got).slice(0, 100)
    throw new RequestError('invalid_price', `${param} must be ${allowed}; got ${shown}`, { param })
  }
}
