import { type GatewayValues, gatewayOptionTable } from './gateway-options.ts'
import { type OptionTable, optionTable, row, type ValuesOf } from './option-spec.ts'
import { bindAddress, integer, oneOf, path, urlOrPath, webhookUrl } from './value-kind.ts'

/** The formats of alert messages. */
export const alertFormats = ['json', 'slack', 'discord', 'ntfy'] as const

export type AlertFormat = (typeof alertFormats)[number]

/** The receiver of alerts, for the dashboard and for `tokenweir alerts test`. */
export const alertOptions = {
  alertWebhook: row(
    webhookUrl,
    null as string | null,
    'URL that alerts are posted to; use the variable for a secret URL',
  ),
  alertFormat: row<AlertFormat>(oneOf(alertFormats), 'json', 'format of alerts'),
}

/** The dashboard's options besides those of the gateway. */
export const ownOptionTable = optionTable({
  dashboardPort: row(integer(0, 65_535), 9118, 'TCP port of the dashboard; 0 picks a free one'),
  dashboardHost: row(
    bindAddress,
    '127.0.0.1',
    'address the dashboard binds; any but loopback needs the admin token',
  ),
  pricingSource: row(
    urlOrPath,
    'https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json',
    "price list to sync from, in LiteLLM's format",
  ),
  ...alertOptions,
  alertEveryS: row(integer(1, 3600), 30, 'seconds between checks of the alert rules'),
  adminTokenFile: row(
    path,
    null as string | null,
    'file with the admin token, instead of TOKENWEIR_ADMIN_TOKEN',
  ),
})

/** The settings of the dashboard, and of the gateway that it starts. */
export type DashboardValues = GatewayValues & ValuesOf<typeof ownOptionTable>

/** Every option of `tokenweir gateway`. */
export const gatewayCommandTable = {
  ...gatewayOptionTable,
  adminTokenFile: ownOptionTable.adminTokenFile,
}

/** Every option of `tokenweir up`. The dashboard's port and host have `dashboard` in their names. */
export const upOptionTable = { ...gatewayOptionTable, ...ownOptionTable }

/**
 * Every option of `tokenweir dashboard`: its own, and those of the gateway that it starts. The gateway's port
 * and host have `gateway` in their names.
 */
export const dashboardOptionTable: OptionTable<DashboardValues> = {
  ...ownOptionTable,
  ...gatewayOptionTable,
  dashboardPort: { ...ownOptionTable.dashboardPort, name: 'port' },
  dashboardHost: { ...ownOptionTable.dashboardHost, name: 'host' },
  port: { ...gatewayOptionTable.port, name: 'gateway-port', description: 'TCP port of the gateway' },
  host: { ...gatewayOptionTable.host, name: 'gateway-host', description: 'address the gateway binds' },
}
