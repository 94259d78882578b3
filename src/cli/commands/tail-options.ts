import { dashboardOptionTable, type TokenValues } from '../../options/dashboard-options.ts'
import { defaultDatabase, defaultGatewayPort, gatewayOptionTable } from '../../options/gateway-options.ts'
import { baseUrl, integer, modelNames, path, toggle } from '../../options/value-kind.ts'
import { envName, type Options, type OptionTable } from '../../options/option-spec.ts'

/** What `tokenweir tail` is asked for. */
export interface TailValues extends TokenValues {
  body: boolean
  full: boolean
  errors: boolean
  model: readonly string[]
  json: boolean
  db: string
  port: number
  /** `null`: by the data folder, or else by the port. */
  url: string | null
}

export type TailOptions = Options<TailValues>

/** Every option of `tokenweir tail`, in the order of `--help`. */
export const tailOptionTable: OptionTable<TailValues> = {
  body: {
    name: 'body',
    kind: toggle,
    default: false,
    env: [],
    description: 'show what was asked and answered, too',
  },
  full: {
    name: 'full',
    kind: toggle,
    default: false,
    env: [],
    description: 'cut nothing that --body shows',
  },
  errors: {
    name: 'errors',
    kind: toggle,
    default: false,
    env: [],
    description: 'only calls that fail',
  },
  model: {
    name: 'model',
    kind: modelNames,
    default: [],
    env: [],
    description: 'only calls that ask for this model; repeatable',
  },
  json: {
    name: 'json',
    kind: toggle,
    default: false,
    env: [],
    description: 'print each request and each answer as a JSON object on a line of its own',
  },
  db: {
    name: 'db',
    kind: path,
    default: defaultDatabase,
    env: [envName('db')],
    description:
      'file of the telemetry database: in its folder lies the socket of the gateway that is followed',
  },
  port: {
    name: 'port',
    kind: integer(1, 65_535),
    default: defaultGatewayPort,
    env: gatewayOptionTable.port.env,
    description: 'TCP port of the gateway on this machine, where there is no such socket',
  },
  url: {
    name: 'url',
    kind: baseUrl,
    default: null,
    env: [],
    description: 'where the gateway is reached, in place of socket and port',
  },
  adminTokenFile: dashboardOptionTable.adminTokenFile,
}
