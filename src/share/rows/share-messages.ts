import * as v from 'valibot'
import { count, fits } from '../../lib/message-schema.ts'
import type { Shape } from '../../lib/message-shape.ts'
import type { PullProgress } from './row-puller.ts'

/** The argument of the process. */
export interface ShareTask {
  /** The path of the local database. */
  readonly path: string
  /** True to fetch the rows of others, too. */
  readonly pulls: boolean
  /** Days before now whose calls the first copy has; 0 for all. */
  readonly days: number
}

/** The status that the process sends to its parent every 500 ms. */
export interface ShareStatus {
  /** Rows that are not in the shared database yet, and the start of the oldest; null without any. */
  readonly behind: { readonly rows: number; readonly sinceMs: number } | null
  readonly pull: PullProgress | null
  /** A message for people, which is sent once; null without one. */
  readonly line: string | null
}

export const isShareTask: Shape<ShareTask> = fits(
  v.object({
    path: v.string(),
    pulls: v.boolean(),
    days: count,
  }),
)

export const isShareStatus: Shape<ShareStatus> = fits(
  v.object({
    behind: v.nullable(v.object({ rows: count, sinceMs: count })),
    pull: v.nullable(v.object({ pulled: count, last: count })),
    line: v.nullable(v.string()),
  }),
)
