import type { GatewaysReport } from '../../api/gateways.ts'
import type { Clock } from '../../call/clock.ts'
import { ownGateway } from '../../supervisor/own-gateway.ts'
import { RequestError } from '../http/request-error.ts'
import { type RoutesOf, route } from '../http/app.ts'
import type { DashboardParts } from './dashboard-parts.ts'

/** What each route answers, and the errors that it alone has. */
export interface GatewayAnswers {
  /** The gateways that share a limit, each with its state and slots; without `--share` the dashboard's own alone. */
  'GET /api/gateways': { readonly 200: GatewaysReport }
  /** Takes a gateway that is lost off the list: what it held is given to others. @fails gateway_not_found gateway_not_silent share_unreachable */
  'POST /api/gateways/:instance/release': { readonly 200: GatewaysReport }
}

/** `/api/gateways`: all gateways that share a limit, and the release of one that is lost. */
export function gatewayRoutes(
  { gateways, process }: Pick<DashboardParts, 'gateways' | 'process'>,
  clock: Clock,
): RoutesOf<GatewayAnswers> {
  const report = async (): Promise<GatewaysReport> =>
    (await gateways?.report()) ?? ownGateway(await process.status(), clock.wallTime())
  return {
    'GET /api/gateways': route({}, report),
    'POST /api/gateways/:instance/release': route({}, async (c) => {
      if (gateways === null) throw new RequestError('gateway_not_found', 'No other gateways are known here.')
      await gateways.release(c.req.param('instance') ?? '')
      return report()
    }),
  }
}
