import * as v from 'valibot'
import { count, fits } from '../../lib/message-schema.ts'
import { isObject, type Shape } from '../../lib/message-shape.ts'
import type { PullProgress } from './row-puller.ts'

/** The argument with which the process is started. */
export interface ShareTask {
  /** The local database. */
  readonly path: string
  /** True if the rows of others are fetched, too. */
  readonly pulls: boolean
  /** Days before now whose calls a first copy takes; 0 for all. */
  readonly days: number
}

/** From the process to its parent: once a second, how things stand. */
export interface ShareStatus {
  /** Rows that are not in the shared database yet, and since when. */
  readonly behind: { readonly rows: number; readonly sinceMs: number } | null
  readonly pull: PullProgress | null
  /** A message for people, sent once; null without one. */
  readonly line: string | null
}

export const isShareTask: Shape<ShareTask> = fits(
  v.object({
    path: v.string(),
    pulls: v.boolean(),
    days: count,
  }),
)

/** Ends the process once waiting rows are sent. */
export const closeMessage = { kind: 'close' } as const

export function isClose(message: unknown): boolean {
  return isObject(message) && message['kind'] === closeMessage.kind
}

export const isShareStatus: Shape<ShareStatus> = fits(
  v.object({
    behind: v.nullable(v.object({ rows: count, sinceMs: count })),
    pull: v.nullable(v.object({ pulled: count, last: count })),
    line: v.nullable(v.string()),
  }),
)
