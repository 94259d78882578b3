import type { DatabaseSync } from 'node:sqlite'
import { firstIdAt, startedAtMs } from '../../call/call-id.ts'
import type { Clock } from '../../call/clock.ts'
import { FoldedRange } from '../../call/folded-range.ts'
import type { CallPricer } from '../write/call-pricer.ts'
import { CallWords } from '../read/call-words.ts'
import { foldedUntilMs } from '../rollup/fold-calls.ts'
import { versionOf } from '../sqlite/migrate.ts'
import { openForReading, openForWriting, type StoreAbsence } from '../sqlite/open-store.ts'
import { RepriceCalls } from './reprice-calls.ts'
import { type RepricedDay, RepriceDays } from './reprice-days.ts'
import type { RepriceSelection } from './reprice-writer.ts'
import { nextSize, pauseAfter, sliceMs } from './slice-pace.ts'
import { lockJob } from '../sqlite/store-files.ts'

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

export interface RepriceWorld {
  readonly pricer: CallPricer
  readonly clock: Pick<Clock, 'now' | 'wallTime' | 'delay'>
  readonly onProgress: (progress: RepriceProgress) => void
}

/** Calls of one slice. */
const bounds = { first: 50, least: 8, most: 2000 } as const
const dryBounds = { first: 500, least: 100, most: 5000 } as const
const minuteMs = 60_000
/** Twice what others take: calls that lie close together change the same sums, and these are most of the work. */
const longSliceMs = 2 * sliceMs

/**
 * Gives calls the cost that the prices in force when they began say, in transactions of a few milliseconds with pauses
 * between them, while others read and write. It may be killed at any moment, and then begun again: what was done is done.
 * Throws {@link FoldedRange} where calls of that time are kept as sums alone.
 */
export async function repriceStore(
  path: string,
  request: RepriceRequest,
  world: RepriceWorld,
): Promise<RepriceOutcome | StoreAbsence | 'job_running'> {
  // Nothing is made where there is nothing to price.
  const reading = openForReading(path)
  if (typeof reading === 'string') return reading
  try {
    if (request.dryRun) {
      refuseFolded(reading, request)
      return await repriceAll(reading, request, world)
    }
  } finally {
    reading.close()
  }
  // Calls must neither be folded away nor counted again meanwhile.
  using job = lockJob(path)
  if (job === null) return 'job_running'
  const database = openForWriting(path)
  try {
    refuseFolded(database, request)
    return await repriceAll(database, request, world)
  } finally {
    database.close()
  }
}

function refuseFolded(database: DatabaseSync, { fromMs }: RepriceRequest): void {
  // Before the second version nothing could be folded away.
  const untilMs = versionOf(database) < 2 ? 0 : foldedUntilMs(database)
  if (fromMs < untilMs) throw new FoldedRange(untilMs)
}

async function repriceAll(
  database: DatabaseSync,
  request: RepriceRequest,
  { pricer, clock, onProgress }: RepriceWorld,
): Promise<RepriceOutcome> {
  const startedMs = clock.now()
  const words = new CallWords(database)
  const days = new RepriceDays(request.timeZone, (id) => words.wordOf('models', id))
  let [looked, reported] = [0, 0]
  const selection = selectionOf(database, request, words)
  if (selection !== null) {
    const { fromMs, toMs } = selection
    const total = Math.ceil((toMs - fromMs) / minuteMs)
    const calls = new RepriceCalls(database, pricer, clock.wallTime)
    const pace = request.dryRun ? dryBounds : bounds
    let size: number = pace.first
    let afterId: number | null = firstIdAt(fromMs) - 1
    onProgress({ done: 0, total })
    while (afterId !== null) {
      const fromNow = clock.now()
      const slice = calls.step(selection, afterId, size, request.dryRun)
      const tookMs = clock.now() - fromNow
      looked += slice.looked
      reported += slice.reported
      for (const call of slice.changed) days.add(call)
      afterId = slice.afterId
      const reachedMs = afterId === null ? toMs : startedAtMs(afterId)
      onProgress({ done: Math.min(total, Math.ceil((reachedMs - fromMs) / minuteMs)), total })
      size = nextSize(size, (tookMs * sliceMs) / longSliceMs, pace)
      // Who only reads keeps nobody waiting.
      const hasWritten = !request.dryRun && slice.changed.length > 0
      if (afterId !== null && (hasWritten || tookMs > longSliceMs)) {
        await clock.delay(hasWritten ? pauseAfter(tookMs) : 0)
      }
    }
  }
  return { looked, reported, days: days.days(), whole: days.whole(), durationMs: clock.now() - startedMs }
}

/** Null where no call can be meant. */
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
