import { age, integer, modelNames, path, toggle } from '../../options/value-kind.ts'
import { defaultDatabase } from '../../options/gateway-options.ts'
import { envName, type Options, type OptionTable } from '../../options/option-spec.ts'
import { type Environment, parseOptions } from '../parse-options.ts'

/** What `tokenweir calls` is asked for. */
export interface CallsValues {
  recent: number
  follow: boolean
  errors: boolean
  model: readonly string[]
  /** Milliseconds before now, `null` for no bound. */
  since: number | null
  json: boolean
  db: string
}

export type CallsOptions = Options<CallsValues>

/** Every option of `tokenweir calls`, in the order of `--help`. */
export const callsOptionTable: OptionTable<CallsValues> = {
  recent: {
    name: 'recent',
    kind: integer(0, 100_000),
    default: 20,
    env: [],
    description: 'how many calls to show, the newest last',
  },
  follow: {
    name: 'follow',
    kind: toggle,
    default: false,
    env: [],
    description: 'go on showing calls as they end',
  },
  errors: {
    name: 'errors',
    kind: toggle,
    default: false,
    env: [],
    description: 'only calls that failed',
  },
  model: {
    name: 'model',
    kind: modelNames,
    default: [],
    env: [],
    description: 'only calls that asked for this model; repeatable',
  },
  since: {
    name: 'since',
    kind: age,
    default: null,
    env: [],
    description: 'only calls that began at most that long ago: 90s, 15m, 1h, 7d',
  },
  json: {
    name: 'json',
    kind: toggle,
    default: false,
    env: [],
    description: 'print one JSON object per line instead of a table',
  },
  db: {
    name: 'db',
    kind: path,
    default: defaultDatabase,
    env: [envName('db')],
    description: 'file of the telemetry database',
  },
}

/** What is asked for, from arguments and environment. Throws `OptionError`. */
export function parseCallsOptions(argv: readonly string[], env: Environment): CallsOptions {
  return parseOptions(callsOptionTable, argv, env)
}
