import type { DatabaseSync } from 'node:sqlite'
import { firstIdAt, startedAtMs } from '../../call/call-id.ts'
import { FoldedRange } from '../../call/folded-range.ts'
import { CallWords } from '../read/call-words.ts'
import { foldedUntilMs } from '../rollup/fold-calls.ts'
import { versionOf } from '../sqlite/migrate.ts'
import type { StoreAbsence } from '../sqlite/open-store.ts'
import type { CallPricer } from '../write/call-pricer.ts'
import { inSlices, type JobWorld, readStore, runJob } from './job.ts'
import { RepriceCalls, type RepriceSelection } from './reprice-calls.ts'
import { type RepricedDay, RepriceDays } from './reprice-days.ts'

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

/** How far it has come: minutes of the calls' time. */
export interface RepriceProgress {
  readonly done: number
  readonly total: number
}

/** What was done; of a dry run, what would be. */
export interface RepriceOutcome {
  /** Calls that were looked at. */
  readonly looked: number
  /** Of those, calls whose upstream reported what they cost: these stay as they are. */
  readonly reported: number
  readonly days: readonly RepricedDay[]
  readonly whole: Omit<RepricedDay, 'day' | 'model'>
  readonly durationMs: number
}

export interface RepriceWorld extends JobWorld<RepriceProgress> {
  readonly pricer: CallPricer
}

/** Calls of one slice; twice the time that others take, as calls that lie close together change the same sums. */
const bounds = { first: 50, least: 8, most: 2000, ms: 10 } as const
const dryBounds = { ...bounds, first: 500, least: 100, most: 5000 } as const
const minuteMs = 60_000

/**
 * Gives calls the cost that the prices in force when they began say, in transactions of a few milliseconds with pauses
 * between them, while others read and write. It may be killed at any moment, and then begun again: what was done is done.
 * Throws {@link FoldedRange} if calls of that time are kept as sums alone.
 */
export async function repriceStore(
  path: string,
  request: RepriceRequest,
  world: RepriceWorld,
): Promise<RepriceOutcome | StoreAbsence | 'job_running'> {
  const reprice = (database: DatabaseSync): Promise<RepriceOutcome> => repriceAll(database, request, world)
  return request.dryRun ? await readStore(path, reprice) : await runJob(path, reprice)
}

async function repriceAll(
  database: DatabaseSync,
  request: RepriceRequest,
  { pricer, clock, onProgress }: RepriceWorld,
): Promise<RepriceOutcome> {
  const startedMs = clock.now()
  // Before the second version nothing could be folded away.
  const unfoldedFromMs = versionOf(database) < 2 ? 0 : foldedUntilMs(database)
  if (request.fromMs < unfoldedFromMs) throw new FoldedRange(unfoldedFromMs)
  const words = new CallWords(database)
  const days = new RepriceDays(request.timeZone, (id) => words.wordOf('models', id))
  let [looked, reported] = [0, 0]
  const selection = selectionOf(database, request, words)
  if (selection !== null) {
    const { fromMs, toMs } = selection
    const total = Math.ceil((toMs - fromMs) / minuteMs)
    const calls = new RepriceCalls(database, pricer, clock.wallTime)
    let afterId = firstIdAt(fromMs) - 1
    onProgress({ done: 0, total })
    await inSlices(clock, request.dryRun ? dryBounds : bounds, (size) => {
      const slice = calls.step(selection, afterId, size, request.dryRun)
      looked += slice.looked
      reported += slice.reported
      for (const call of slice.changed) days.add(call)
      afterId = slice.afterId ?? firstIdAt(toMs)
      onProgress({ done: Math.min(total, Math.ceil((startedAtMs(afterId) - fromMs) / minuteMs)), total })
      return { hasMore: slice.afterId !== null, hasWritten: !request.dryRun && slice.changed.length > 0 }
    })
  }
  return { looked, reported, days: days.days(), whole: days.whole(), durationMs: clock.now() - startedMs }
}

/** Null if no call can be meant. */
function selectionOf(
  database: DatabaseSync,
  { fromMs, toMs, model, onlyUnpriced }: RepriceRequest,
  words: CallWords,
): RepriceSelection | null {
  const row = database.prepare('SELECT min(id) AS first, max(id) AS last FROM calls').get()
  if (row?.['first'] === null || row === undefined) return null
  const [modelId = null] = model === null ? [] : words.idsOf('models', [model])
  if (model !== null && modelId === null) return null
  const selection = {
    fromMs: Math.max(Math.ceil(fromMs), startedAtMs(Number(row['first']))),
    // Calls that are recorded meanwhile have their cost already.
    toMs: Math.min(Math.ceil(toMs), startedAtMs(Number(row['last'])) + 1),
    modelId,
    onlyUnpriced,
  }
  return selection.fromMs < selection.toMs ? selection : null
}
