import * as v from 'valibot'
import { ClientUse } from './clients.ts'
import type { Infer } from '../call/infer.ts'

export const HealthStatus = v.picklist(['ok', 'degraded', 'draining'])

/** Slots and queue, of one upstream or of all. */
export const SlotReport = v.object({
  max_concurrent: v.number(),
  active: v.number(),
  queued: v.number(),
  slot_cooldown_ms: v.number(),
  total_admitted: v.number(),
  total_queued: v.number(),
  total_retries_429: v.number(),
  peak_active: v.number(),
})

export type SlotReport = Infer<typeof SlotReport>

/** State of a named upstream, by its latest calls. */
export const UpstreamHealth = v.object({
  name: v.string(),
  /** `failing`: each replica has failed a call, and has not answered well since. */
  state: v.picklist(['up', 'failing']),
  /** Why calls get no key from the gateway although a key is set; null without such a problem. */
  problem: v.nullable(v.string()),
  rate_limiter: SlotReport,
  /** Tokens of any 24 hours; absent without an own limit. */
  token_limit: v.exactOptional(v.number()),
  /** Tokens used of the limit; null while the use before the start is unknown. */
  used_tokens: v.exactOptional(v.nullable(v.number())),
  replicas: v.array(
    v.object({
      host: v.string(),
      state: v.picklist(['up', 'failing']),
      in_flight: v.number(),
      /** ISO 8601, UTC. */
      failing_since: v.nullable(v.string()),
      problem: v.nullable(v.string()),
    }),
  ),
})

export type UpstreamHealth = Infer<typeof UpstreamHealth>

/** A provider's limit, from the headers of its last answer. */
export const ProviderLimit = v.object({
  /** Name of the upstream. */
  upstream: v.string(),
  /** Model that the call asked for; null if it named none. */
  model: v.nullable(v.string()),
  /** Fingerprint of the client's key that was sent; null for the gateway's own key, or none. */
  key: v.nullable(v.string()),
  /** `wait`: a 429 or 529 asked for no call before `reset_at`. The entry is removed after that time. */
  kind: v.picklist(['requests', 'tokens', 'input_tokens', 'output_tokens', 'wait']),
  /** Length of the limit's window in seconds (default: 60); null for `wait`. */
  window_s: v.nullable(v.number()),
  /** Requests or tokens per window; null if unknown. */
  limit: v.nullable(v.number()),
  /** Remainder at `seen_at`; the whole limit after `reset_at`; null if unknown. */
  remaining: v.nullable(v.number()),
  /** When the whole limit is available again: ISO 8601, UTC; null if unknown. */
  reset_at: v.nullable(v.string()),
  seen_at: v.string(),
})

export type ProviderLimit = Infer<typeof ProviderLimit>

/** A limit a minute that calls wait for. */
export const MinuteLimitUse = v.object({
  /** The owner of the limit: an upstream, a model pattern, a client, or, if `learned`, a provider. */
  of: v.picklist(['upstream', 'model', 'client', 'learned']),
  /** Null for the limit of a client. */
  upstream: v.nullable(v.string()),
  /** The model, or the pattern of models that share the limit. */
  model: v.nullable(v.string()),
  /** Name of a client or fingerprint of a key; null for all. */
  client: v.nullable(v.string()),
  kind: v.picklist(['requests', 'tokens', 'input_tokens', 'output_tokens']),
  /** Requests or tokens in any 60 seconds; this gateway's share if several gateways share. */
  limit: v.number(),
  /** Used in the last 60 seconds, with an estimate for calls in flight. */
  used: v.number(),
  /** Calls that wait for this limit. */
  waiting: v.number(),
})

export type MinuteLimitUse = Infer<typeof MinuteLimitUse>

/** The body of the gateway's `GET /health`. */
export const HealthReport = v.object({
  status: HealthStatus,
  upstream: v.string(),
  db: v.string(),
  /** The slots of all upstreams together. */
  rate_limiter: v.object({
    ...SlotReport.entries,
    /** Which waiting call is next: `fifo` or `fair`. */
    queue_order: v.string(),
  }),
  /** All upstreams, if `upstreams.json` has any. The upstream of `--upstream` comes first, as `default`. */
  upstreams: v.exactOptional(v.array(UpstreamHealth)),
  token_budget: v.object({
    daily_limit: v.number(),
    total_used: v.number(),
    remaining: v.number(),
    percentage_used: v.number(),
    /** Tokens among `total_used` that no upstream reported. */
    estimated: v.number(),
    /** True if `total_used` includes calls from before the gateway's start. */
    known: v.boolean(),
  }),
  /** Clients with calls in flight or waiting, and clients with limits: at most 100, the longest queues first. */
  clients: v.array(ClientUse),
  /**
   * Limits of providers that answers of the last hour reported: at most 100 models and keys, the newest
   * at the end.
   */
  provider_limits: v.array(ProviderLimit),
  /** At most 100 limits a minute that calls wait for, most waiting calls first. */
  minute_limits: v.array(MinuteLimitUse),
  pid: v.number(),
  instance: v.string(),
  version: v.string(),
  uptime_s: v.number(),
  /** Requests since the start that were refused because their client's base URL is not the gateway's. */
  wrong_base_url_calls: v.number(),
  /** `enabled`: payloads are logged to the file. The size is that of all segments together. */
  raw_log: v.object({ enabled: v.boolean(), file_size_bytes: v.number() }),
  /** With `--share`: all gateways that share the limit. */
  shared: v.exactOptional(
    v.object({
      gateways: v.number(),
      /** Slots that all gateways hold, used or not. */
      held: v.number(),
      /** Slots among these that this gateway may use, also while the shared database is away. */
      held_here: v.number(),
      active_all: v.number(),
      waiting_all: v.number(),
      /** Seconds for which a lost gateway keeps its slots. */
      lease_s: v.number(),
      /** State of the shared database: `ok`, `away` (no answer), or `learning` (it lost the list of slots). */
      engine: v.string(),
    }),
  ),
  telemetry: v.object({ written: v.number(), pending: v.number(), dropped: v.number() }),
  warnings: v.array(v.object({ code: v.string(), message: v.string() })),
})

export type HealthReport = Infer<typeof HealthReport>

/** The part that users other than root and the gateway's own may see. */
export const PublicHealthReport = v.pick(HealthReport, [
  'status',
  'upstream',
  'db',
  'rate_limiter',
  'token_budget',
])

export type PublicHealthReport = Infer<typeof PublicHealthReport>

/** The body of `GET /health`: the full report for root, the gateway's user and bearers of the admin token. */
export const HealthAnswer = v.union([HealthReport, PublicHealthReport])
