import type { ClientUse } from './clients.ts'

export type HealthStatus = 'ok' | 'degraded' | 'draining'

/** Slots and queue, of one upstream or of all. */
export interface SlotReport {
  readonly max_concurrent: number
  readonly active: number
  readonly queued: number
  readonly slot_cooldown_ms: number
  readonly total_admitted: number
  readonly total_queued: number
  readonly total_retries_429: number
  readonly peak_active: number
}

/** How a named upstream is, as far as calls have found out. */
export interface UpstreamHealth {
  readonly name: string
  /** `failing`: none of its replicas has given a good answer since it last failed a call. */
  readonly state: 'up' | 'failing'
  /** Why it is lent no key, where it should be. */
  readonly problem: string | null
  readonly rate_limiter: SlotReport
  /** Tokens of any 24 hours; absent where there is no limit of its own. */
  readonly token_limit?: number
  /** Of those; null while what was used before is not known. */
  readonly used_tokens?: number | null
  readonly replicas: readonly {
    readonly host: string
    readonly state: 'up' | 'failing'
    readonly in_flight: number
    /** ISO 8601, UTC. */
    readonly failing_since: string | null
    readonly problem: string | null
  }[]
}

/** A limit that a provider sets, as an answer told of it last. */
export interface ProviderLimit {
  /** Name of the upstream. */
  readonly upstream: string
  /** Model that the call asked for; null if it named none. */
  readonly model: string | null
  /** Fingerprint of the client's key that was sent; null for the gateway's own key, or none. */
  readonly key: string | null
  /** `wait`: a 429 or 529 asks not to be called before `reset_at`; there is no such entry once that is past. */
  readonly kind: 'requests' | 'tokens' | 'input_tokens' | 'output_tokens' | 'wait'
  /** Seconds for which the limit holds: 60, unless its header names others; null for `wait`. */
  readonly window_s: number | null
  /** Requests or tokens in that time; null where no answer has told. */
  readonly limit: number | null
  /** Left of it when it was seen; all of it once `reset_at` is past; null where no answer has told. */
  readonly remaining: number | null
  /** When all of it is left again: ISO 8601, UTC; null where no answer has told. */
  readonly reset_at: string | null
  readonly seen_at: string
}

/** The body of the gateway's `GET /health`: the outside names of its figures. */
export interface HealthReport {
  readonly status: HealthStatus
  readonly upstream: string
  readonly db: string
  /** Of all upstreams together. */
  readonly rate_limiter: SlotReport & {
    /** Which waiting call is next: `fifo` or `fair`. Absent in earlier versions. */
    readonly queue_order?: string
  }
  /** Where there are more than that of `--upstream`, which is the first of them and called `default`. */
  readonly upstreams?: readonly UpstreamHealth[]
  readonly token_budget: {
    readonly daily_limit: number
    readonly total_used: number
    readonly remaining: number
    readonly percentage_used: number
    /** Tokens among `total_used` that no upstream reported. */
    readonly estimated: number
    /** Whether what was used before the gateway's start is in `total_used`. */
    readonly known: boolean
  }
  /**
   * Clients with calls in flight or waiting, and those with limits, the longest lines first; at most 100. Absent in earlier
   * versions.
   */
  readonly clients?: readonly ClientUse[]
  /**
   * What the answers of the last hour told of the limits that providers set: at most 100 models and keys, those heard of last
   * at the end. Absent in earlier versions.
   */
  readonly provider_limits?: readonly ProviderLimit[]
  readonly pid: number
  readonly instance: string
  readonly version: string
  readonly uptime_s: number
  /** Requests since the start that were refused because their client's base URL is not the gateway's. */
  readonly wrong_base_url_calls: number
  /** `enabled`: whether payloads are kept in the file; its size is that of all segments. */
  readonly raw_log: { readonly enabled: boolean; readonly file_size_bytes: number }
  /** With `--share`: all gateways that share the limit. */
  readonly shared?: {
    readonly gateways: number
    /** Slots that they hold, whether used or not. */
    readonly held: number
    /** Of those, the slots that this gateway may use: also while the shared database is away. */
    readonly held_here: number
    readonly active_all: number
    readonly waiting_all: number
    /** Seconds for which one that is lost keeps its slots. */
    readonly lease_s: number
    /** Whether the shared database answers: `ok`, `away`, or `learning` after it has lost its state. */
    readonly engine: string
  }
  readonly telemetry: { readonly written: number; readonly pending: number; readonly dropped: number }
  readonly warnings: readonly { readonly code: string; readonly message: string }[]
}

/** What of it is told to others than the gateway's own user and root. */
export type PublicHealthReport = Pick<
  HealthReport,
  'status' | 'upstream' | 'db' | 'rate_limiter' | 'token_budget'
>
