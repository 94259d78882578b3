import type { Clock } from '../../call/clock.ts'
import { clientChange } from '../../options/client-settings.ts'
import type { SeenClients } from '../../supervisor/clients.ts'
import { type RouteTable, route } from '../http/app.ts'
import type { DashboardDeps } from './dashboard-deps.ts'
import { jsonIn } from './query-reply.ts'

/** A client without limits is listed if it called within this time. */
const seenMs = 7 * 24 * 60 * 60 * 1000
const minuteMs = 60_000

/** `/api/clients`: clients, their limits and use; setting limits, and naming keys. */
export function clientRoutes(
  { clients, queries }: Pick<DashboardDeps, 'clients' | 'queries'>,
  clock: Clock,
): RouteTable {
  const report = async () => {
    // Cut to the minute, so that requests within it share the answer.
    const fromMs = Math.floor((clock.wallTime() - seenMs) / minuteMs) * minuteMs
    return clients.report(jsonIn(await queries.ask({ kind: 'clients', fromMs })) as SeenClients)
  }
  return {
    /** Clients of the last seven days or with limits: their calls, limits, use and rest in the running gateway. @fails too_busy too_slow query_interrupted */
    'GET /api/clients': route({ answer: 'ClientsReport' }, report),
    /**
     * Sets limits of a client, by its name or a key's fingerprint, or gives a key a client name; null removes
     * a value. Applies at once. @fails invalid_client broken_clients_file clients_not_kept clients_busy
     * too_busy too_slow query_interrupted
     */
    'PUT /api/clients/:name': route({ answer: 'ClientsReport', body: clientChange }, async (c, { body }) => {
      await clients.change(c.req.param('name') ?? '', body)
      return report()
    }),
  }
}
