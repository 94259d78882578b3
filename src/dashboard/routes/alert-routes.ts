import { alertChange } from '../../alerts/alert-settings.ts'
import { type RouteTable, route } from '../http/app.ts'
import type { DashboardDeps } from './dashboard-deps.ts'

/** `/api/alerts`: the rules, what is active and what was sent; setting them, and sending a test. */
export function alertRoutes({ alerts }: Pick<DashboardDeps, 'alerts'>): RouteTable {
  return {
    /** The rules of alerts, what is active and what was sent. */
    'GET /api/alerts': route({ answer: 'AlertsReport' }, async () => alerts().report()),
    /** Sets rules, a switch or a threshold at a time, and the webhook. @fails fixed_setting broken_alerts_file alerts_not_kept alerts_busy */
    'PUT /api/alerts': route({ answer: 'AlertsReport', body: alertChange }, async (_, { body }) =>
      alerts().change(body),
    ),
    /** Sends a test message, and says what came back. */
    'POST /api/alerts/test': route({ answer: 'AlertTest' }, async () => alerts().test()),
  }
}
