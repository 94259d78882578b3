import { alertChange } from '../../alerts/alert-settings.ts'
import { type RouteTable, route } from '../http/app.ts'
import type { DashboardParts } from './dashboard-parts.ts'

/** `/api/alerts`: the rules, what is active and what was sent; setting them, and sending a test. */
export function alertRoutes({ alerts }: Pick<DashboardParts, 'alerts'>): RouteTable {
  return {
    'GET /api/alerts': route({}, async () => alerts().report()),
    'PUT /api/alerts': route({ body: alertChange }, async (_, { body }) => alerts().change(body)),
    'POST /api/alerts/test': route({}, async () => alerts().test()),
  }
}
