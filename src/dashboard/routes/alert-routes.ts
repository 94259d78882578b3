import type { AlertTest, AlertsReport } from '../../api/alerts.ts'
import { alertChange } from '../../alerts/alert-settings.ts'
import { type RoutesOf, route } from '../http/app.ts'
import type { DashboardParts } from './dashboard-parts.ts'

/** What each route answers, and the errors that it alone has. */
export interface AlertAnswers {
  /** The rules of alerts, what is active and what was sent. */
  'GET /api/alerts': { readonly 200: AlertsReport }
  /** Sets rules, a switch or a threshold at a time. @fails broken_alerts_file alerts_not_kept alerts_busy */
  'PUT /api/alerts': { readonly 200: AlertsReport }
  /** Sends a test message, and says what came back. */
  'POST /api/alerts/test': { readonly 200: AlertTest }
}

/** `/api/alerts`: the rules, what is active and what was sent; setting them, and sending a test. */
export function alertRoutes({ alerts }: Pick<DashboardParts, 'alerts'>): RoutesOf<AlertAnswers> {
  return {
    'GET /api/alerts': route({}, async () => alerts().report()),
    'PUT /api/alerts': route({ body: alertChange }, async (_, { body }) => alerts().change(body)),
    'POST /api/alerts/test': route({}, async () => alerts().test()),
  }
}
