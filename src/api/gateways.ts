/** A gateway among those that share a limit. */
export interface GatewayRow {
  /** Of this run. */
  readonly instance: string
  readonly host: string
  readonly version: string
  /** `away`: the database has not heard of it for seconds. `learning`: nobody gets slots until all are known again. */
  readonly state: 'ok' | 'away' | 'learning'
  /** ISO 8601, UTC; null unless it is away. */
  readonly away_since: string | null
  /** Calls in flight, as it told last. */
  readonly active: number
  /** Slots that it holds, whether used or not. */
  readonly held: number
  readonly waiting: number
  /** Calls that it has recorded and not sent to the common database yet. */
  readonly rows_behind: number
  /** Seconds until its slots are free, if nothing is heard of it; null if it holds none by a lease. */
  readonly lease_left_s: number | null
  /** Whether it is the one of this data folder, which this dashboard starts and stops. */
  readonly is_own: boolean
  /** Whether it was silent for so long that it may be released. */
  readonly can_release: boolean
}

/** The body of `GET /api/gateways`. */
export interface GatewaysReport {
  /** The dashboard's own first, then by host; without `--share` its own alone. */
  readonly gateways: readonly GatewayRow[]
  /** Slots of all; null if nobody tells. */
  readonly max_concurrent: number | null
  /** Why the common database cannot be asked, in words: then the gateways are as it told last, at `as_of`. */
  readonly problem: string | null
  readonly as_of: string
  /** Of the first copy of others' calls: rows that were looked at, and how many there are; null if none is under way. */
  readonly copy: { readonly pulled: number; readonly last: number } | null
}
