import type { GatewaysReport } from '../../api/gateways.ts'
import type { Clock } from '../../call/clock.ts'
import { ownGateway } from '../../supervisor/own-gateway.ts'
import { RequestError } from '../http/request-error.ts'
import { type RouteTable, route } from '../http/app.ts'
import type { DashboardDeps } from './dashboard-deps.ts'

/** `/api/gateways`: all gateways that share a limit, and the release of one that is lost. */
export function gatewayRoutes(
  { gateways, process }: Pick<DashboardDeps, 'gateways' | 'process'>,
  clock: Clock,
): RouteTable {
  const report = async (): Promise<GatewaysReport> =>
    (await gateways?.report()) ?? ownGateway(await process.status(), clock.wallTime())
  return {
    /** The gateways that share a limit, each with its state and slots; without `--share` the dashboard's own alone. */
    'GET /api/gateways': route({ answer: 'GatewaysReport' }, report),
    /** Removes a lost gateway from the list, and gives its slots to the others. @fails gateway_not_found gateway_not_silent share_unreachable */
    'POST /api/gateways/:instance/release': route({ answer: 'GatewaysReport' }, async (c) => {
      if (gateways === null) throw new RequestError('gateway_not_found', 'No other gateways are known here.')
      await gateways.release(c.req.param('instance') ?? '')
      return report()
    }),
  }
}
