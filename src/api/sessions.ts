import * as v from 'valibot'
import { CallSession } from '../call/figures.ts'
import type { Infer } from '../call/infer.ts'
import { NoStore } from './calls.ts'

/** The body of `GET /api/sessions`, by default newest call first. */
export const Sessions = v.object({
  ...NoStore.entries,
  sessions: v.array(CallSession),
  /** The cursor of the next page; null if there is no next page. */
  next_cursor: v.nullable(v.string()),
  /** Calls before this time were folded into sums, which have no sessions; null if no call was folded. */
  folded_until: v.nullable(v.string()),
})

export type Sessions = Infer<typeof Sessions>
