import type { AlertService } from '../../alerts/alert-service.ts'
import type { GatewaysReport } from '../../api/gateways.ts'
import type { QueryProcess } from '../../query/query-process.ts'
import type { Clients } from '../../supervisor/clients.ts'
import type { NotesFile } from '../../supervisor/notes-file.ts'
import type { Upstreams } from '../../supervisor/upstreams.ts'
import type { JobStarter } from '../../supervisor/jobs.ts'
import type { GatewayProcess } from '../../supervisor/supervised-gateway.ts'
import type { LogFile } from '../../supervisor/log-file.ts'
import type { RawLogRelay } from '../../supervisor/raw-log-relay.ts'

/** The gateway's log. */
export type LogSource = Pick<LogFile, 'tail' | 'clear' | 'watch'>
/** Answers questions about recorded calls without blocking the caller; rejects only with an internal error. */
export type QuerySource = Pick<QueryProcess, 'ask'>
/** The log of payloads. */
export type RawLogSource = Pick<
  RawLogRelay,
  'status' | 'readState' | 'toggle' | 'clear' | 'recent' | 'stream' | 'follow'
>

/** The alert rules. */
export type AlertSource = Pick<AlertService, 'report' | 'active' | 'ruleSettings' | 'change' | 'test'>

/** The gateways that share a limit. `release` rejects with an error that the dashboard can answer. */
export interface GatewaysSource {
  report(): Promise<GatewaysReport>
  release(instance: string): Promise<void>
}

/** The parts that the dashboard's routes use. Tests replace them. */
export interface DashboardDeps {
  readonly process: GatewayProcess
  readonly log: LogSource
  readonly queries: QuerySource
  readonly rawLog: RawLogSource
  readonly jobs: JobStarter
  /** The alert rules, loaded at the first use. */
  readonly alerts: () => AlertSource
  /** Limits and names of clients. */
  readonly clients: Pick<Clients, 'report' | 'change'>
  /** Notes of users on moments. */
  readonly notes: Pick<NotesFile, 'report' | 'add' | 'remove'>
  /** Further upstreams. */
  readonly upstreams: Pick<Upstreams, 'report' | 'change' | 'remove'>
  /** The models that the default upstream lists without a key; empty if it lists none. */
  readonly models: () => Promise<readonly string[]>
  /** Asks an address for its models without a key, and describes the answer. Never rejects. */
  readonly testUpstream: (url: string) => Promise<{ readonly ok: boolean; readonly detail: string }>
  /** The gateways that share; null without `--share`. */
  readonly gateways: GatewaysSource | null
  /** The path of the price file. */
  readonly priceFile: string
}
