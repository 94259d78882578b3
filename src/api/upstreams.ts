import type { UpstreamHealth } from './health-report.ts'

/** An upstream as it is set, and as the running gateway finds it. */
export interface UpstreamRow {
  /** `default` for the one of `--upstream`, which is the first. */
  readonly name: string
  readonly urls: readonly string[]
  /** Patterns of models; empty if it is reached by path alone, and for the default one. */
  readonly models: readonly string[]
  /** Its slots; null if it has as many as `--max-concurrent` says. */
  readonly max_concurrent: number | null
  /** Tokens of any 24 hours; null if it has no limit of its own. */
  readonly token_limit: number | null
  /** The client's own, none, or where a key of the gateway's own comes from. */
  readonly credentials:
    | 'client'
    | 'none'
    | { readonly env: string; readonly header?: string | undefined }
    | { readonly file: string; readonly header?: string | undefined }
  readonly fallback:
    | string
    | { readonly to: string; readonly models?: Readonly<Record<string, string>> | undefined }
    | null
  /** Null if no gateway runs, or it has not seen this upstream yet. */
  readonly health: UpstreamHealth | null
}

/** The body of `GET /api/upstreams`. */
export interface UpstreamsReport {
  readonly upstreams: readonly UpstreamRow[]
  /** Where they are kept. */
  readonly file: string
  /** What is wrong with the file; the last good upstreams hold. */
  readonly problem: string | null
}

/** The body of `GET /api/models`. */
export interface ModelsReport {
  readonly models: readonly string[]
}
