import * as v from 'valibot'
import type { Infer } from '../call/infer.ts'

/** Waits for a slot. A call waited if its wait was at least one millisecond. */
export const SlotWaits = v.object({
  waited: v.number(),
  wait_p95_ms: v.nullable(v.number()),
  wait_max_ms: v.nullable(v.number()),
})

export type SlotWaits = Infer<typeof SlotWaits>

/** The same calls' simulated waits with `max_concurrent` slots. */
export const SlotEstimate = v.object({
  ...SlotWaits.entries,
  max_concurrent: v.number(),
})

export type SlotEstimate = Infer<typeof SlotEstimate>

/** The body of `GET /api/slots`: waits of a range's calls, recorded and simulated with other limits. */
export const SlotWaitsReport = v.object({
  /** ISO 8601, UTC; `to` is exclusive. */
  from: v.string(),
  to: v.string(),
  /** Start of the counted calls; null if all are counted. Earlier calls were folded, or are too many. */
  counted_from: v.nullable(v.string()),
  /** The limit of the first estimate; null without a call, or if no limit is known. */
  max_concurrent: v.nullable(v.number()),
  /** Calls that got a slot. */
  calls: v.number(),
  /** Calls that never got a slot: the queue was full, they waited too long, or their client left. */
  turned_away: v.number(),
  /** The recorded waits. */
  recorded: SlotWaits,
  /** Estimates by rising limit. */
  estimates: v.array(SlotEstimate),
  /** The lowest limit with a p95 wait of at most 100 ms. */
  short_waits_at: v.nullable(v.number()),
  /** The lowest limit without a wait. */
  no_waits_at: v.nullable(v.number()),
})

export type SlotWaitsReport = Infer<typeof SlotWaitsReport>
