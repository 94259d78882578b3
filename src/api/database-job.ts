/** `roll_up`: calls enter the rollups; `fold`: old ones are deleted; `give_back`: free pages leave the file. */
export type CompressPhase = 'roll_up' | 'fold' | 'give_back'

/** How far compressing has come. */
export interface CompressProgress {
  readonly phase: CompressPhase
  /** Calls; of `give_back`, pages. */
  readonly done: number
  readonly total: number
}

/** What compressing did; of a dry run, what it would do. Sizes are those of the file and its log together. */
export interface CompressResult {
  readonly before_bytes: number
  /** Of a dry run, about. */
  readonly after_bytes: number
  readonly folded_calls: number
  readonly duration_ms: number
}

/** Records of an imported file that are no calls here, or lack a value here, for one reason. */
export interface ImportProblem {
  readonly count: number
  /** The first of them, in words. */
  readonly problem: string
  /** Where the first few stand: lines of a file, rows of a database. */
  readonly lines: readonly number[]
}

/** What an import did; of a dry run, what it would do. */
export interface ImportResult {
  readonly source: string
  readonly added: number
  /** There already. */
  readonly present: number
  readonly skipped: number
  /** Of what was skipped. */
  readonly problems: readonly ImportProblem[]
  /** Of values that cannot be true, which calls that were added do without. */
  readonly notes: readonly ImportProblem[]
  /** Why the file could not be read to its end; null if it was. */
  readonly stopped: string | null
  readonly duration_ms: number
}

/** Why a job came to nothing. */
export interface JobFailure {
  readonly code: 'job_running' | 'no_database' | 'folded_range' | 'broken_price_file' | 'job_failed'
  readonly message: string
  /** Of `folded_range` in `from` the instant from which on it can be asked. */
  readonly data?: Readonly<Record<string, string>>
}

/** The body of `GET /api/db`. */
export interface DatabaseFile {
  /** Its path in full. */
  readonly file: string
  /** Of the file and its log together; null where there is none yet. */
  readonly bytes: number | null
  /** Free on the disk that it is on, for this user. */
  readonly disk_free_bytes: number | null
}

/** The body of `GET /api/db`: the file, and where it is going. */
export interface DatabaseSize extends DatabaseFile {
  /** By the calls of the last seven days, each at what a call takes on average; null while there is not an hour of them. */
  readonly growth_bytes_per_day: number | null
  /** When the disk is full at that rate, ISO 8601 in UTC; null if that is not known, or over a hundred years away. */
  readonly disk_full_at: string | null
}

/** A job that was begun on the dashboard, the last of its kind that was. */
export interface Job<Name, Progress, Result> {
  readonly job: Name
  readonly state: 'running' | 'done' | 'failed'
  readonly dry_run: boolean
  /** ISO 8601, UTC. */
  readonly started_at: string
  /** Null until it has told of any. */
  readonly progress: Progress | null
  readonly result: Result | null
  readonly error: JobFailure | null
}

/** A compressing. */
export interface DatabaseJob extends Job<'compress', CompressProgress, CompressResult> {
  readonly keep_days: number
}

/** The forms of a file of calls. */
export const exportFormats = ['csv', 'ndjson', 'parquet'] as const

export type ExportFormat = (typeof exportFormats)[number]
