import * as v from 'valibot'
import { UpstreamHealth } from './health-report.ts'
import type { Infer } from '../call/infer.ts'

/** An upstream: its settings, and its state in the running gateway. */
export const UpstreamRow = v.object({
  /** The name; `default` for the upstream of `--upstream`, which comes first. */
  name: v.string(),
  urls: v.array(v.string()),
  /** Patterns of models; empty for an upstream that only a path reaches, and for the default one. */
  models: v.array(v.string()),
  /** Slots of the upstream; null for as many as `--max-concurrent` says. */
  max_concurrent: v.nullable(v.number()),
  /** Tokens of any 24 hours; null without an own limit. */
  token_limit: v.nullable(v.number()),
  /** Requests and tokens per minute; null without such a limit. */
  max_rpm: v.nullable(v.number()),
  max_tpm: v.nullable(v.number()),
  /** Limits per minute by patterns of models; empty without limits. */
  limits: v.record(v.string(), v.object({ rpm: v.optional(v.number()), tpm: v.optional(v.number()) })),
  /** The client's own credentials, none, or the source of the gateway's own key. */
  credentials: v.union([
    v.picklist(['client', 'none']),
    v.object({ env: v.string(), header: v.optional(v.string()) }),
    v.object({ file: v.string(), header: v.optional(v.string()) }),
  ]),
  fallback: v.nullable(
    v.union([v.string(), v.object({ to: v.string(), models: v.optional(v.record(v.string(), v.string())) })]),
  ),
  /** State of the upstream; null if no gateway runs, or if the running gateway has not read this upstream yet. */
  health: v.nullable(UpstreamHealth),
})

export type UpstreamRow = Infer<typeof UpstreamRow>

/** The body of `GET /api/upstreams`. */
export const UpstreamsReport = v.object({
  upstreams: v.array(UpstreamRow),
  /** The path of the file of upstreams. */
  file: v.string(),
  /** The error in the file, while the last valid upstreams stay in force. */
  problem: v.nullable(v.string()),
})

export type UpstreamsReport = Infer<typeof UpstreamsReport>

/** The body of `POST /api/upstreams/test`: each address's answer to a request for its models, without a key. */
export const UpstreamTest = v.object({ tests: v.array(v.object({ ok: v.boolean(), detail: v.string() })) })

export type UpstreamTest = Infer<typeof UpstreamTest>

/** The body of `GET /api/models`. */
export const ModelsReport = v.object({ models: v.array(v.string()) })

export type ModelsReport = Infer<typeof ModelsReport>
