import type { CallSession } from '../call/call-session.ts'

/** The body of `GET /api/sessions`: those first in which a call that was asked for began last. */
export interface Sessions {
  readonly sessions: readonly CallSession[]
  /** Asks for the next page; null where there is none. */
  readonly next_cursor: string | null
  /** Calls before this time are kept as sums, which know of no session; null if there are none. */
  readonly folded_until: string | null
}
