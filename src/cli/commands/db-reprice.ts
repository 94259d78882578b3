import type { JobFailure } from '../../api/database-job.ts'
import type { RepriceDay, RepriceLine, RepriceProgress, RepriceResult } from '../../api/costs.ts'
import type { Clock } from '../../call/clock.ts'
import { FoldedRange } from '../../call/folded-range.ts'
import { PriceBook } from '../../pricing/price-book.ts'
import { placeInFile, type PriceReading } from '../../pricing/price-file.ts'
import { absenceText, type StoreAbsence } from '../../store/sqlite/open-store.ts'
import type { RepricedDay } from '../../store/jobs/reprice-days.ts'
import type { RepriceOutcome, RepriceRequest, RepriceWorld } from '../../store/jobs/reprice-store.ts'
import type { UndoOutcome } from '../../store/jobs/undo-reprice.ts'
import { type RepriceOptions, repriceOptionTable } from './db-options.ts'
import { exitCode } from '../exit-code.ts'
import { type Environment, OptionError, parseOptions } from '../parse-options.ts'
import { dayTable } from '../terminal/reprice-table.ts'

/** What `tokenweir db reprice` needs of the world. */
export interface RepriceContext {
  readonly clock: Clock
  readonly reprice: (
    path: string,
    request: RepriceRequest,
    world: RepriceWorld,
  ) => Promise<RepriceOutcome | StoreAbsence | 'job_running'>
  readonly undo: (
    path: string,
    world: { readonly clock: Clock },
  ) => Promise<UndoOutcome | StoreAbsence | 'job_running' | 'nothing_done'>
  /** The prices in force for the database at a path. */
  readonly prices: (path: string) => PriceReading
  readonly print: (text: string) => void
  readonly warn: (text: string) => void
  /** Whether `print` goes to somebody who watches. */
  readonly isTerminal: boolean
}

/** Progress is told this often at most. */
const progressEveryMs = 200

/**
 * `tokenweir db reprice`: gives calls the cost that the prices of their time say. Gives the exit code; throws
 * `OptionError`.
 */
export async function runReprice(
  argv: readonly string[],
  env: Environment,
  context: RepriceContext,
): Promise<number> {
  const options: RepriceOptions = parseOptions(repriceOptionTable, argv, env)
  const report = options.json ? jsonReport(context) : plainReport(context, options)
  if (options.undo) return await runUndo(options, context, report)
  const request = requestOf(options, context.clock.wallTime())
  try {
    const outcome = await outcomeOf(options.db, request, context, report)
    if ('code' in outcome) report.failure(outcome)
    else report.result(resultOf(outcome))
    return 'code' in outcome ? exitCode.fault : 0
  } catch (error) {
    report.failure(failureOf(error, options.db))
    return exitCode.fault
  }
}

async function runUndo(
  options: RepriceOptions,
  { clock, undo, print }: RepriceContext,
  report: Report,
): Promise<number> {
  const { db, json } = options
  for (const name of ['from', 'to', 'model', 'onlyUnpriced', 'dryRun'] as const) {
    if (options.setBy[name] !== null) {
      throw new OptionError(
        `--undo takes back the last re-pricing as a whole: it does not go with ${options.setBy[name]}`,
      )
    }
  }
  try {
    const outcome = await undo(db, { clock })
    if (typeof outcome === 'string') {
      report.failure(outcome === 'nothing_done' ? nothingDone(db) : absenceOf(outcome, db))
      return exitCode.fault
    }
    const at = new Date(outcome.atMs).toISOString()
    if (json) print(`${JSON.stringify({ undone: { calls: outcome.calls, repriced_at: at } })}\n`)
    else {
      const calls = `${outcome.calls.toLocaleString('en')} ${outcome.calls === 1 ? 'call costs' : 'calls cost'}`
      print(`${calls} again what was known before the re-pricing of ${at}.\n`)
    }
    return 0
  } catch (error) {
    report.failure(failureOf(error, db))
    return exitCode.fault
  }
}

function nothingDone(db: string): JobFailure {
  return { code: 'job_failed', message: `${db}: there is no re-pricing to take back.` }
}

function requestOf(options: RepriceOptions, nowMs: number): RepriceRequest {
  const { from, to, model, onlyUnpriced, dryRun, tz: timeZone } = options
  if (from === null) throw new OptionError('--from must be given: the past is changed from there on')
  const toMs = to ?? nowMs
  if (toMs <= from) throw new OptionError('--to must be later than --from')
  return { fromMs: from, toMs, model, onlyUnpriced, dryRun, timeZone }
}

async function outcomeOf(
  db: string,
  request: RepriceRequest,
  { clock, reprice, prices }: RepriceContext,
  report: Report,
): Promise<RepriceOutcome | JobFailure> {
  const reading = prices(db)
  if (reading === 'missing') {
    const message = 'there are no prices: sync them, or set some, and run this again.'
    return { code: 'job_failed', message }
  }
  if ('problem' in reading) {
    const { problem } = reading
    const message = `The price file cannot be read${placeInFile(problem)}: ${problem.message}`
    return { code: 'broken_price_file', message }
  }
  const pricer = new PriceBook(reading.costs)
  const onProgress = seldom(clock, (progress) => report.progress(progress))
  const outcome = await reprice(db, request, { pricer, clock, onProgress })
  return typeof outcome === 'object' ? outcome : absenceOf(outcome, db)
}

function absenceOf(why: StoreAbsence | 'job_running', db: string): JobFailure {
  if (why === 'job_running') {
    const message = `${db}: compress, rebuild or reprice is at work on it already, in another process.`
    return { code: 'job_running', message }
  }
  const code = why === 'missing' || why === 'empty' ? 'no_database' : 'job_failed'
  return { code, message: `${db}: ${absenceText[why]}` }
}

function failureOf(error: unknown, db: string): JobFailure {
  if (error instanceof FoldedRange) {
    const from = new Date(error.unfoldedFromMs).toISOString()
    const message = `Calls before ${from} are kept as sums of quarter hours, which cannot be priced anew; ask from ${from} on.`
    return { code: 'folded_range', message }
  }
  const reason = error instanceof Error ? error.message : String(error)
  const message = `${db}: ${reason}. What was priced so far stays priced; it can be run again.`
  return { code: 'job_failed', message }
}

/** How a run is told of. */
interface Report {
  progress(progress: RepriceProgress): void
  result(result: RepriceResult): void
  failure(failure: JobFailure): void
}

function jsonReport({ print }: RepriceContext): Report {
  const line = (said: RepriceLine): void => print(`${JSON.stringify(said)}\n`)
  return {
    progress: (progress) => line({ progress }),
    result: (result) => line({ result }),
    failure: (error) => line({ error }),
  }
}

function plainReport({ print, warn, isTerminal }: RepriceContext, { dryRun }: RepriceOptions): Report {
  const clear = (): void => {
    if (isTerminal) print(`\r${' '.repeat(40)}\r`)
  }
  return {
    progress: ({ done, total }) => {
      if (isTerminal && total > 0) print(`\rpricing calls: ${Math.floor((100 * done) / total)} % `)
    },
    result: (result) => {
      clear()
      print(dayTable(result, dryRun))
    },
    failure: ({ message }) => {
      clear()
      warn(`tokenweir: ${message}\n`)
    },
  }
}

function resultOf({ days, whole, looked, reported, durationMs }: RepriceOutcome): RepriceResult {
  return {
    ...sumsOf(whole),
    days: days.map((day) => ({ day: day.day, model: day.model, ...sumsOf(day) })),
    looked_calls: looked,
    reported_calls: reported,
    duration_ms: Math.round(durationMs),
  }
}

function sumsOf(sums: Omit<RepricedDay, 'day' | 'model'>): Omit<RepriceDay, 'day' | 'model'> {
  return {
    calls: sums.calls,
    before_usd: usd(sums.beforeNanoUsd),
    after_usd: usd(sums.afterNanoUsd),
    newly_priced: sums.newlyPriced,
    newly_unpriced: sums.newlyUnpriced,
  }
}

function usd(nanoUsd: number | null): number | null {
  return nanoUsd === null ? null : nanoUsd / 1e9
}

function seldom(
  clock: Pick<Clock, 'now'>,
  tell: (progress: RepriceProgress) => void,
): (progress: RepriceProgress) => void {
  let toldMs = Number.NEGATIVE_INFINITY
  return (progress) => {
    if (clock.now() - toldMs < progressEveryMs) return
    toldMs = clock.now()
    tell(progress)
  }
}
