import { defaultDatabase } from '../../options/gateway-options.ts'
import { instant, integer, modelName, path, timeZone, toggle } from '../../options/value-kind.ts'
import { envName, type Options, type OptionSpec, type OptionTable } from '../../options/option-spec.ts'

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

/** What `tokenweir db reprice` is asked for. */
export interface RepriceValues {
  /** Milliseconds since the Unix epoch; null where it was not said. */
  from: number | null
  /** Exclusive; null for now. */
  to: number | null
  model: string | null
  onlyUnpriced: boolean
  dryRun: boolean
  undo: boolean
  tz: string
  json: boolean
  db: string
}

export type RepriceOptions = Options<RepriceValues>
export type CompressOptions = Options<CompressValues>
export type CheckOptions = Options<CheckValues>

const db: OptionSpec<string> = {
  name: 'db',
  kind: path,
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
    kind: toggle,
    default: false,
    env: [],
    description: 'only say what would be done',
  },
  json: {
    name: 'json',
    kind: toggle,
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
    kind: toggle,
    default: false,
    env: [],
    description: 'count every quarter hour again instead of a sample; takes minutes for millions of calls',
  },
  db,
}

/** Every option of `tokenweir db rebuild`, in the order of `--help`. */
export const rebuildOptionTable: OptionTable<RebuildValues> = { db }

/** Every option of `tokenweir db reprice`, in the order of `--help`. */
export const repriceOptionTable: OptionTable<RepriceValues> = {
  from: {
    name: 'from',
    kind: instant,
    default: null,
    env: [],
    description: 'calls that began then or later; must be given',
  },
  to: {
    name: 'to',
    kind: instant,
    default: null,
    env: [],
    description: 'calls that began before then; now unless given',
  },
  model: {
    name: 'model',
    kind: modelName,
    default: null,
    env: [],
    description: 'only calls that asked for this model',
  },
  onlyUnpriced: {
    name: 'only-unpriced',
    kind: toggle,
    default: false,
    env: [],
    description: 'only calls that have no price',
  },
  dryRun: {
    name: 'dry-run',
    kind: toggle,
    default: false,
    env: [],
    description: 'only say what would change',
  },
  undo: {
    name: 'undo',
    kind: toggle,
    default: false,
    env: [],
    description: 'put back what the last re-pricing replaced; goes with --db and --json alone',
  },
  tz: {
    name: 'tz',
    kind: timeZone,
    default: 'UTC',
    env: [],
    description: 'time zone in which days are counted',
  },
  json: {
    name: 'json',
    kind: toggle,
    default: false,
    env: [],
    description: 'print progress and result as one JSON object per line',
  },
  db,
}
