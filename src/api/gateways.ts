import * as v from 'valibot'
import type { Infer } from '../call/infer.ts'

/** A gateway among those that share a limit. */
export const GatewayRow = v.object({
  /** The instance of this run. */
  instance: v.string(),
  host: v.string(),
  version: v.string(),
  /** `away`: no report to the database for seconds. `learning`: no gateway gets slots until all have reported. */
  state: v.picklist(['ok', 'away', 'learning']),
  /** ISO 8601, UTC; null unless it is away. */
  away_since: v.nullable(v.string()),
  /** Calls in flight at its last report. */
  active: v.number(),
  /** Slots that it holds, used or not. */
  held: v.number(),
  waiting: v.number(),
  /** Recorded calls that it has not sent to the shared database yet. */
  rows_behind: v.number(),
  /** Seconds until its slots are freed without a report; null if it holds none by a lease. */
  lease_left_s: v.nullable(v.number()),
  /** True for the gateway of this data folder, which this dashboard starts and stops. */
  is_own: v.boolean(),
  /** True if it has been silent long enough to be released. */
  can_release: v.boolean(),
})

export type GatewayRow = Infer<typeof GatewayRow>

/** The body of `GET /api/gateways`. */
export const GatewaysReport = v.object({
  /** The dashboard's own gateway first, then by host; only that one without `--share`. */
  gateways: v.array(GatewayRow),
  /** Slots of all gateways together; null if unknown. */
  max_concurrent: v.nullable(v.number()),
  /** A sentence on why the shared database cannot be reached; null if it can. `gateways` then is its last answer, of `as_of`. */
  problem: v.nullable(v.string()),
  as_of: v.string(),
  /** Progress of the first copy of other gateways' calls, in rows: read, and in all; null if no copy runs. */
  copy: v.nullable(v.object({ pulled: v.number(), last: v.number() })),
})

export type GatewaysReport = Infer<typeof GatewaysReport>
