import * as v from 'valibot'
import type { Infer } from '../call/infer.ts'

/** How calls wait for a slot. A call waits if that takes a millisecond or more. */
export const SlotWaits = v.object({
  waited: v.number(),
  wait_p95_ms: v.nullable(v.number()),
  wait_max_ms: v.nullable(v.number()),
})

export type SlotWaits = Infer<typeof SlotWaits>

/** How they would have waited with so many slots. */
export const SlotEstimate = v.object({
  ...SlotWaits.entries,
  max_concurrent: v.number(),
})

export type SlotEstimate = Infer<typeof SlotEstimate>

/** The body of `GET /api/slots`: what calls of a range waited, and what they would have waited with other limits. */
export const SlotWaitsReport = v.object({
  /** ISO 8601, UTC; `to` is exclusive. */
  from: v.string(),
  to: v.string(),
  /** Only calls from then on are counted: those before are sums by now, or too many. Null if all are. */
  counted_from: v.nullable(v.string()),
  /** The limit that the first estimate is of; null without a call, and if none is known. */
  max_concurrent: v.nullable(v.number()),
  /** Calls that had a slot. */
  calls: v.number(),
  /** Calls that never had one: the queue was full, they waited too long, or their client left. */
  turned_away: v.number(),
  /** As it was. */
  recorded: SlotWaits,
  /** By rising limits. */
  estimates: v.array(SlotEstimate),
  /** The lowest limit with a p95 wait of at most 100 ms. */
  short_waits_at: v.nullable(v.number()),
  /** The lowest limit with which nobody would have waited. */
  no_waits_at: v.nullable(v.number()),
})

export type SlotWaitsReport = Infer<typeof SlotWaitsReport>
