import { type GatewayValues, gatewayOptionTable } from './gateway-options.ts'
import { bindAddress, integer, optionalPath, urlOrPath } from './option-kind.ts'
import { type OptionSpec, type OptionTable, envName } from './option-spec.ts'

/** Where the admin token comes from, besides `TOKENWEIR_ADMIN_TOKEN`. */
export interface TokenValues {
  adminTokenFile: string | null
}

/** The settings of the dashboard, and of the gateway that it starts. */
export interface DashboardValues extends GatewayValues, TokenValues {
  dashboardPort: number
  dashboardHost: string
  pricingSource: string
}

const adminTokenFile: OptionSpec<string | null> = {
  name: 'admin-token-file',
  kind: optionalPath(),
  default: null,
  env: [envName('admin-token-file')],
  description: 'file that holds the admin token, in place of the variable TOKENWEIR_ADMIN_TOKEN',
}

/** Where the dashboard listens unless told otherwise. */
export const defaultDashboardPort = 9118

const dashboardPort: OptionSpec<number> = {
  name: 'port',
  kind: integer(0, 65_535),
  default: defaultDashboardPort,
  env: [envName('dashboard-port')],
  description: 'TCP port of the dashboard; 0 takes any that is free',
}

const dashboardHost: OptionSpec<string> = {
  name: 'host',
  kind: bindAddress(),
  default: '127.0.0.1',
  env: [envName('dashboard-host')],
  description: 'address that the dashboard binds; any but a loopback one needs the admin token',
}

/** Where prices are synced from. */
export const pricingSource: OptionSpec<string> = {
  name: 'pricing-source',
  kind: urlOrPath(),
  default: 'https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json',
  env: [envName('pricing-source')],
  description: "list of prices in LiteLLM's form that a sync takes",
}

/** Every option of `tokenweir gateway`. */
export const gatewayCommandTable: OptionTable<GatewayValues & TokenValues> = {
  ...gatewayOptionTable,
  adminTokenFile,
}

/** Every option of `tokenweir dashboard`: its own, and those of the gateway that it starts. */
export const dashboardOptionTable: OptionTable<DashboardValues> = {
  dashboardPort,
  dashboardHost,
  pricingSource,
  adminTokenFile,
  ...gatewayOptionTable,
  port: { ...gatewayOptionTable.port, name: 'gateway-port', description: 'TCP port of the gateway' },
  host: { ...gatewayOptionTable.host, name: 'gateway-host', description: 'address that the gateway binds' },
}

/** Every option of `tokenweir up`: the gateway's as they are, the dashboard's with its name before them. */
export const upOptionTable: OptionTable<DashboardValues> = {
  ...gatewayOptionTable,
  adminTokenFile,
  dashboardPort: { ...dashboardPort, name: 'dashboard-port' },
  dashboardHost: { ...dashboardHost, name: 'dashboard-host' },
  pricingSource,
}
