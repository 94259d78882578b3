import { ownOptionTable } from '../../options/dashboard-options.ts'
import { defaultDatabase } from '../../options/gateway-options.ts'
import { path, toggle } from '../../options/value-kind.ts'
import { envName, type OptionTable } from '../../options/option-spec.ts'

/** What `tokenweir costs sync` is asked for. */
export interface SyncValues {
  pricingSource: string
  json: boolean
  db: string
}

/** Every option of `tokenweir costs sync`, in the order of `--help`. */
export const syncOptionTable: OptionTable<SyncValues> = {
  pricingSource: ownOptionTable.pricingSource,
  json: {
    name: 'json',
    kind: toggle,
    default: false,
    env: [],
    description: 'print the result as one JSON object',
  },
  db: {
    name: 'db',
    kind: path,
    default: defaultDatabase,
    env: [envName('db')],
    description: 'file of the telemetry database; the prices lie beside it',
  },
}
