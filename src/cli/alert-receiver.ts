import type { AlertReceiver } from '../alerts/alert-request.ts'
import type { AlertFormat } from '../options/dashboard-options.ts'
import type { Environment } from './parse-options.ts'

interface AlertValues {
  readonly alertWebhook: string | null
  readonly alertFormat: AlertFormat
}

/** Where alerts go, and what signs them; null without a webhook. */
export function readReceiver(
  { alertWebhook: url, alertFormat: format }: AlertValues,
  env: Environment,
): AlertReceiver | null {
  const secret = env['TOKENWEIR_ALERT_SECRET'] ?? ''
  return url === null ? null : { url, format, secret: secret === '' ? null : secret }
}
