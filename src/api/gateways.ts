import * as v from 'valibot'
import type { Infer } from '../call/infer.ts'

/** A gateway among those that share a limit. */
export const GatewayRow = v.object({
  /** The instance: one run of a gateway. */
  instance: v.string(),
  host: v.string(),
  version: v.string(),
  /** `away`: no report to the database for seconds. `learning`: no gateway gets slots until all have reported. */
  state: v.picklist(['ok', 'away', 'learning']),
  /** ISO 8601, UTC; null unless it is away. */
  away_since: v.nullable(v.string()),
  /** Calls in flight at the gateway's last report. */
  active: v.number(),
  /** Slots that the gateway holds, used or not. */
  held: v.number(),
  waiting: v.number(),
  /** Recorded calls that the gateway has not sent to the shared database yet. */
  rows_behind: v.number(),
  /** Seconds until the slots of a silent gateway are freed; null if it holds no slots by a lease. */
  lease_left_s: v.nullable(v.number()),
  /** True for the gateway of this data folder, which this dashboard starts and stops. */
  is_own: v.boolean(),
  /** True if it has been silent long enough to be released. */
  can_release: v.boolean(),
})

export type GatewayRow = Infer<typeof GatewayRow>

/** The body of `GET /api/gateways`. */
export const GatewaysReport = v.object({
  /** All gateways, the dashboard's own first, then by host. Without `--share`, only the dashboard's own. */
  gateways: v.array(GatewayRow),
  /** Slots of all gateways together; null if unknown. */
  max_concurrent: v.nullable(v.number()),
  /**
   * Why the shared database cannot be reached, as a sentence; null if it can. `gateways` is then the last
   * answer, from `as_of`.
   */
  problem: v.nullable(v.string()),
  as_of: v.string(),
  /**
   * Progress of the first copy of other gateways' calls: rows read (`pulled`) of all rows (`last`); null if
   * no copy runs.
   */
  copy: v.nullable(v.object({ pulled: v.number(), last: v.number() })),
})

export type GatewaysReport = Infer<typeof GatewaysReport>
