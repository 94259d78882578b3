import * as v from 'valibot'
import { CallSession } from '../call/figures.ts'
import type { Infer } from '../call/infer.ts'
import { NoStore } from './calls.ts'

/** The body of `GET /api/sessions`, by default newest call first. */
export const Sessions = v.object({
  ...NoStore.entries,
  sessions: v.array(CallSession),
  /** Asks for the next page; null where there is none. */
  next_cursor: v.nullable(v.string()),
  /** Calls before this time are folded into sums, which have no sessions; null if no call is folded. */
  folded_until: v.nullable(v.string()),
})

export type Sessions = Infer<typeof Sessions>
