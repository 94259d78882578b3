import { defaultDatabase } from '../options/gateway-options.ts'
import { integer, path, toggle } from '../options/option-kind.ts'
import { envName, type Options, type OptionSpec, type OptionTable } from '../options/option-spec.ts'

/** What `tokenweir db compress` is asked for. */
export interface CompressValues {
  keepDays: number
  dryRun: boolean
  json: boolean
  db: string
}

/** What `tokenweir db check` is asked for. */
export interface CheckValues {
  full: boolean
  db: string
}

/** What `tokenweir db rebuild` is asked for. */
export interface RebuildValues {
  db: string
}

export type RebuildOptions = Options<RebuildValues>
export type CompressOptions = Options<CompressValues>
export type CheckOptions = Options<CheckValues>

const db: OptionSpec<string> = {
  name: 'db',
  kind: path(),
  default: defaultDatabase,
  env: [envName('db')],
  description: 'file of the telemetry database',
}

/** Every option of `tokenweir db compress`, in the order of `--help`. */
export const compressOptionTable: OptionTable<CompressValues> = {
  keepDays: {
    name: 'keep-days',
    kind: integer(1, 36_500),
    default: 90,
    env: [],
    description: 'of how many whole days (UTC) before today calls are kept one by one',
  },
  dryRun: {
    name: 'dry-run',
    kind: toggle(),
    default: false,
    env: [],
    description: 'only say what would be done',
  },
  json: {
    name: 'json',
    kind: toggle(),
    default: false,
    env: [],
    description: 'print progress and result as one JSON object per line',
  },
  db,
}

/** Every option of `tokenweir db check`, in the order of `--help`. */
export const checkOptionTable: OptionTable<CheckValues> = {
  full: {
    name: 'full',
    kind: toggle(),
    default: false,
    env: [],
    description: 'count every quarter hour again instead of a sample; takes minutes for millions of calls',
  },
  db,
}

/** Every option of `tokenweir db rebuild`, in the order of `--help`. */
export const rebuildOptionTable: OptionTable<RebuildValues> = { db }
