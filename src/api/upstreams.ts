import * as v from 'valibot'
import { UpstreamHealth } from './health-report.ts'
import type { Infer } from '../call/infer.ts'

/** An upstream as it is set, and as the running gateway finds it. */
export const UpstreamRow = v.object({
  /** `default` for the one of `--upstream`, which is the first. */
  name: v.string(),
  urls: v.array(v.string()),
  /** Patterns of models; empty if it is reached by path alone, and for the default one. */
  models: v.array(v.string()),
  /** Its slots; null if it has as many as `--max-concurrent` says. */
  max_concurrent: v.nullable(v.number()),
  /** Tokens of any 24 hours; null if it has no limit of its own. */
  token_limit: v.nullable(v.number()),
  /** Requests, and tokens, a minute; null if it has no such limit. */
  max_rpm: v.nullable(v.number()),
  max_tpm: v.nullable(v.number()),
  /** The same by patterns of models; empty for none. */
  limits: v.record(v.string(), v.object({ rpm: v.optional(v.number()), tpm: v.optional(v.number()) })),
  /** The client's own, none, or where a key of the gateway's own comes from. */
  credentials: v.union([
    v.picklist(['client', 'none']),
    v.object({ env: v.string(), header: v.optional(v.string()) }),
    v.object({ file: v.string(), header: v.optional(v.string()) }),
  ]),
  fallback: v.nullable(
    v.union([v.string(), v.object({ to: v.string(), models: v.optional(v.record(v.string(), v.string())) })]),
  ),
  /** Null if no gateway runs, or it has not seen this upstream yet. */
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
