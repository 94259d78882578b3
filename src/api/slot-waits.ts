/** How calls wait for a slot. A call waits if that takes a millisecond or more. */
export interface SlotWaits {
  readonly waited: number
  readonly wait_p50_ms: number | null
  readonly wait_p95_ms: number | null
  readonly wait_max_ms: number | null
}

/** How they would have waited with so many slots. */
export interface SlotEstimate extends SlotWaits {
  readonly max_concurrent: number
}

/** The body of `GET /api/slots`: what calls of a range waited, and what they would have waited with other limits. */
export interface SlotWaitsReport {
  /** ISO 8601, UTC; `to` is exclusive. */
  readonly from: string
  readonly to: string
  /** Only calls from then on are counted: those before are sums by now, or too many. Null if all are. */
  readonly counted_from: string | null
  /** The limit that the first estimate is of; null without a call, and if none is known. */
  readonly max_concurrent: number | null
  /** Calls that had a slot. */
  readonly calls: number
  /** Calls that never had one: the queue was full, they waited too long, or their client left. */
  readonly turned_away: number
  /** As it was. */
  readonly recorded: SlotWaits
  /** By rising limits. */
  readonly estimates: readonly SlotEstimate[]
  /** The lowest limit with a p95 wait of at most 100 ms. */
  readonly short_waits_at: number | null
  /** The lowest limit with which nobody would have waited. */
  readonly no_waits_at: number | null
}
