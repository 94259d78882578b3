import * as v from 'valibot'
import { CallSession } from '../call/figures.ts'
import type { Infer } from '../call/infer.ts'
import { NoStore } from './calls.ts'

/** The body of `GET /api/sessions`: those first in which a call that was asked for began last. */
export const Sessions = v.object({
  ...NoStore.entries,
  sessions: v.array(CallSession),
  /** Asks for the next page; null where there is none. */
  next_cursor: v.nullable(v.string()),
  /** Calls before this time are kept as sums, which know of no session; null if there are none. */
  folded_until: v.nullable(v.string()),
})

export type Sessions = Infer<typeof Sessions>
