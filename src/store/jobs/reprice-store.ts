import type { DatabaseSync } from 'node:sqlite'
import type { RepriceResult } from '../../api/costs.ts'
import { FoldedRangeError } from '../../call/no-answer.ts'
import { foldedUntilMs } from '../rollup/fold-calls.ts'
import { schemaVersion, versionOf } from '../sqlite/migrate.ts'
import type { StoreAbsence } from '../sqlite/open-store.ts'
import type { CallPricer } from '../write/call-pricer.ts'
import { inSlices, type JobContext, readStore, runJob } from './job.ts'
import { repriceCalls } from './reprice-calls.ts'

/** Which calls are to be priced anew, by the time at which they began. */
export interface RepriceRequest {
  readonly fromMs: number
  /** Exclusive. */
  readonly toMs: number
  /** Only calls that asked for this model. */
  readonly model: string | null
  /** Only calls with usage and no price. */
  readonly onlyUnpriced: boolean
  /** Only says what would be done. */
  readonly dryRun: boolean
  /** In which days are counted. */
  readonly timeZone: string
}

/**
 * Gives calls the cost that the prices in force when they began say, in transactions of a few milliseconds with pauses
 * between them, while others read and write. It may be killed at any moment, and then begun again: what was done is done.
 * Throws {@link FoldedRangeError} if calls of that time are kept as sums alone.
 */
export async function repriceStore(
  path: string,
  request: RepriceRequest,
  { pricer, clock, onProgress }: JobContext & { readonly pricer: CallPricer },
): Promise<RepriceResult | StoreAbsence | 'job_running'> {
  const reprice = async (database: DatabaseSync): Promise<RepriceResult> => {
    const startedMs = clock.now()
    const unfoldedFromMs = foldedUntilMs(database)
    if (request.fromMs < unfoldedFromMs) throw new FoldedRangeError(unfoldedFromMs)
    const { work, result } = repriceCalls(database, request, pricer, clock.wallTime)
    if (work !== null) await inSlices(clock, work, onProgress)
    return { ...result(), duration_ms: Math.round(clock.now() - startedMs) }
  }
  if (!request.dryRun) return await runJob(path, reprice)
  return await readStore<RepriceResult | 'older'>(path, (database) =>
    versionOf(database) < schemaVersion ? 'older' : reprice(database),
  )
}
