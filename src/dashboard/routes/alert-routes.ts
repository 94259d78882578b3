import { alertChange } from '../../alerts/alert-settings.ts'
import { type RouteTable, route } from '../http/app.ts'
import type { DashboardDeps } from './dashboard-deps.ts'

/** `/api/alerts`: rules, active alerts and sent messages; changing rules, and sending a test. */
export function alertRoutes({ alerts }: Pick<DashboardDeps, 'alerts'>): RouteTable {
  return {
    /** The alert rules, the active alerts and the sent messages. */
    'GET /api/alerts': route({ answer: 'AlertsReport' }, async () => alerts().report()),
    /** Changes rules and the webhook; absent members stay unchanged. @fails fixed_setting broken_alerts_file alerts_not_kept alerts_busy */
    'PUT /api/alerts': route({ answer: 'AlertsReport', body: alertChange }, async (_, { body }) =>
      alerts().change(body),
    ),
    /** Sends a test message, and returns the receiver's answer. */
    'POST /api/alerts/test': route({ answer: 'AlertTest' }, async () => alerts().test()),
  }
}
