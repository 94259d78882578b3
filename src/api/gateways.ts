import * as v from 'valibot'
import type { Infer } from '../call/infer.ts'

/** A gateway among those that share a limit. */
export const GatewayRow = v.object({
  /** The instance of this run. */
  instance: v.string(),
  host: v.string(),
  version: v.string(),
  /** `away`: the database has not heard of it for seconds. `learning`: nobody gets slots until all are known again. */
  state: v.picklist(['ok', 'away', 'learning']),
  /** ISO 8601, UTC; null unless it is away. */
  away_since: v.nullable(v.string()),
  /** Calls in flight, as it told last. */
  active: v.number(),
  /** Slots that it holds, whether used or not. */
  held: v.number(),
  waiting: v.number(),
  /** Calls that it has recorded and not sent to the common database yet. */
  rows_behind: v.number(),
  /** Seconds until its slots are free, if nothing is heard of it; null if it holds none by a lease. */
  lease_left_s: v.nullable(v.number()),
  /** True if it is the one of this data folder, which this dashboard starts and stops. */
  is_own: v.boolean(),
  /** True if it was silent for so long that it may be released. */
  can_release: v.boolean(),
})

export type GatewayRow = Infer<typeof GatewayRow>

/** The body of `GET /api/gateways`. */
export const GatewaysReport = v.object({
  /** The dashboard's own first, then by host; without `--share` its own alone. */
  gateways: v.array(GatewayRow),
  /** Slots of all; null if nobody tells. */
  max_concurrent: v.nullable(v.number()),
  /** Why the common database cannot be asked, in words: then the gateways are as it told last, at `as_of`. */
  problem: v.nullable(v.string()),
  as_of: v.string(),
  /** Progress of the first copy of others' calls: rows read, and rows in all; null if no copy runs. */
  copy: v.nullable(v.object({ pulled: v.number(), last: v.number() })),
})

export type GatewaysReport = Infer<typeof GatewaysReport>
