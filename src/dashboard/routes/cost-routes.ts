import * as v from 'valibot'
import type { Clock } from '../../call/clock.ts'
import { changePrices } from '../../pricing/change-prices.ts'
import { ownPrice, withOverride, withoutOverride } from '../../pricing/overrides.ts'
import { priceFileState } from '../../pricing/prices-in-force.ts'
import { JsonValueError, object, text, textLike } from '../../options/schema.ts'
import { timeZone } from '../../options/value-kind.ts'
import { optional, readParameter } from '../http/query-parameters.ts'
import { RequestError } from '../http/request-error.ts'
import { type RouteTable, jsonAnswer, route } from '../http/app.ts'
import type { DashboardDeps } from './dashboard-deps.ts'
import { answerQuery } from './query-reply.ts'
import { expectOrder, instantOf, isoTime } from './query-request.ts'

/** The body of a request to re-price. */
const repriceOrder = object({
  from: text,
  to: text,
  model: v.optional(textLike('a name of 1 to 2000 characters, none of them NUL', /^(?=.*\S)[^\0]{1,2000}$/s)),
  only_unpriced: v.optional(v.boolean(), false),
  dry_run: v.optional(v.boolean(), false),
  tz: v.optional(text, 'UTC'),
})

/** `/api/costs`: the prices in force, overrides, the sync, and the prices of recorded calls. */
export function costRoutes(
  { queries, jobs, priceFile }: Pick<DashboardDeps, 'queries' | 'jobs' | 'priceFile'>,
  clock: Clock,
): RouteTable {
  return {
    /** The prices in force. @fails too_busy too_slow query_interrupted */
    'GET /api/costs': route({ answer: 'Costs' }, async (c) => {
      const fileState = priceFileState(priceFile)
      return answerQuery(c, await queries.ask({ kind: 'costs', sync: jobs.sync, fileState }))
    }),
    /** Every upstream and model of recorded calls, with the price that is in force now. @fails too_busy too_slow query_interrupted */
    'GET /api/costs/matches': route(
      { answer: 'CostMatches', query: { from: optional(isoTime), to: optional(isoTime) } },
      async (c, { query: { from, to } }) => {
        const fromMs = from === null ? null : instantOf(from)
        const toMs = to === null ? null : instantOf(to)
        expectOrder(fromMs, toMs)
        const fileState = priceFileState(priceFile)
        return answerQuery(c, await queries.ask({ kind: 'matches', fromMs, toMs, fileState }))
      },
    ),
    /**
     * Sets an override: your own price for a model, or for `host:port/model`. @fails invalid_price
     * broken_price_file prices_not_kept prices_busy
     */
    'PUT /api/costs/overrides/:name': route(
      { answer: 'PriceEntry', body: ownPrice, refusal: 'invalid_price' },
      (c, { body }) =>
        changePrices(priceFile, (before) => {
          const { costs, entry } = withPrice(
            before,
            c.req.param('name') ?? '',
            body,
            new Date(clock.wallTime()).toISOString(),
          )
          return [costs, entry]
        }),
    ),
    /** Removes an override. @fails price_not_found broken_price_file prices_not_kept prices_busy */
    'DELETE /api/costs/overrides/:name': route({ answer: 'RemovedPrice' }, async (c) => {
      const name = c.req.param('name') ?? ''
      const isRemoved = await changePrices(priceFile, (before) => {
        const costs = withoutOverride(before, name)
        return [costs, costs !== null]
      })
      if (isRemoved) return { removed: name }
      const message = `You have no price for ${JSON.stringify(name.slice(0, 100))}.`
      throw new RequestError('price_not_found', message, { param: 'name' })
    }),
    /** Starts a sync of the prices with the price list. `sync` of `/api/costs` has the progress. @fails sync_running job_failed */
    'POST /api/costs/sync': route({ answer: { 202: 'SyncStarted' } }, (c) => {
      if (jobs.startSync()) return jsonAnswer(c, { status: 'started' }, 202)
      throw new RequestError('sync_running', 'A price sync is already running.')
    }),
    /**
     * Recalculates the cost of past calls at the present prices. With `dry_run`, answers 200 with what would
     * change. @fails job_running folded_range no_database broken_price_file job_failed
     */
    'POST /api/costs/reprice': route(
      { answer: { 200: 'RepriceResult', 202: 'RepriceJob' }, body: repriceOrder },
      async (c, { body }) => {
        const { model = null, only_unpriced: onlyUnpriced, dry_run: dryRun } = body
        const tz = readParameter('tz', timeZone, body.tz)
        const fromMs = instantOf(readParameter('from', isoTime, body.from), tz)
        const toMs = instantOf(readParameter('to', isoTime, body.to), tz)
        expectOrder(fromMs, toMs)
        const run = jobs.reprice({ fromMs, toMs, model, onlyUnpriced, dryRun, timeZone: tz })
        return dryRun ? run.result : jsonAnswer(c, await run.begun, 202)
      },
    ),
  }
}

function withPrice(...price: Parameters<typeof withOverride>): ReturnType<typeof withOverride> {
  try {
    return withOverride(...price)
  } catch (error) {
    if (!(error instanceof JsonValueError)) throw error
    const param = String(error.path[0])
    throw new RequestError('invalid_price', `${param} ${error.flaw}.`, { param })
  }
}
