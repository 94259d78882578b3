import type { AlertReceiver } from '../alerts/alert-request.ts'
import type { AlertWebhook } from '../alerts/alert-settings.ts'
import type { AlertFormat } from '../options/dashboard-options.ts'
import type { Options } from '../options/option-spec.ts'
import type { Environment } from './parse-options.ts'

interface AlertValues {
  readonly alertWebhook: string | null
  readonly alertFormat: AlertFormat
}

/** The receiver of alerts and the secret that signs them; null without a webhook. A flag or variable overrides the settings. */
export function readReceiver(
  { alertWebhook: url, alertFormat: format, setBy }: Options<AlertValues>,
  env: Environment,
  saved: AlertWebhook | undefined,
): AlertReceiver | null {
  const secret = env['TOKENWEIR_ALERT_SECRET'] ?? ''
  const webhook = url === null ? saved : { url, format }
  if (webhook === undefined) return null
  return { ...webhook, secret: secret === '' ? null : secret, fixedBy: setBy.alertWebhook }
}
