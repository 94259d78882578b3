import type { JobStarter } from '../../supervisor/database-jobs.ts'
import type { GatewayProcess } from '../../supervisor/supervised-gateway.ts'
import type { PriceSyncer } from '../../supervisor/price-sync-job.ts'
import type { LogSource } from './log-source.ts'
import type { PriceWriter } from './price-writer.ts'
import type { QuerySource } from './query-source.ts'
import type { RawLogSource } from './raw-log-source.ts'

/** The parts that the dashboard's routes ask, each of them a seam for tests. */
export interface DashboardParts {
  readonly process: GatewayProcess
  readonly log: LogSource
  readonly queries: QuerySource
  readonly rawLog: RawLogSource
  readonly jobs: JobStarter
  readonly sync: PriceSyncer
  readonly prices: PriceWriter
}
