import type { RepriceDay, RepriceLine, RepriceProgress, RepriceResult } from '../../api/database-job.ts'
import type { ModelCosts } from '../../pricing/model-costs.ts'
import { PriceBook } from '../../pricing/price-book.ts'
import { placeInFile, priceFileOf, type PriceReading, readPricesInForce } from '../../pricing/price-file.ts'
import { type RepriceRequest, repriceStore } from '../../store/jobs/reprice-store.ts'
import { type CommandContext, OptionError } from '../parse-options.ts'
import { shorten } from '../terminal/display-width.ts'
import { printable } from '../terminal/printable.ts'
import { type Column, column, tableOf, right } from '../terminal/table-layout.ts'
import { counted, dollars, orDash } from '../../lib/number-format.ts'
import { JobError } from '../../supervisor/run-job.ts'
import { done, runDatabaseJob, shareText } from './database-job.ts'
import { type OptionsOf, optionTable } from '../../options/option-spec.ts'
import { instant, modelName, timeZone } from '../../options/value-kind.ts'
import { database, flag, optional, value } from '../option-rows.ts'

export const example = 'tokenweir db reprice --from 2026-11-01 --dry-run'
export const use = 'acts'
export const table = optionTable({
  from: optional(instant, 'recalculate calls that started then or later; required'),
  to: optional(instant, 'recalculate calls that started before (default: now)'),
  model: optional(modelName, 'only calls with this model'),
  onlyUnpriced: flag('only calls without a price'),
  dryRun: flag('only show what would change'),
  tz: value(timeZone, 'UTC', 'time zone of days'),
  json: flag('print progress and result as one JSON object per line'),
  db: database(),
})

type RepriceOptions = OptionsOf<typeof table>

/** Most rows of day and model that are listed; further rows are counted. */
const mostLines = 60
/** Most characters of a model's name in the table. */
const longestName = 40

/** The store's job, and the prices in force for the database at a path; tests replace them. */
const realParts = {
  reprice: repriceStore,
  prices: (path: string): PriceReading => readPricesInForce(priceFileOf(path)),
}

export type RepriceParts = typeof realParts

/**
 * `tokenweir db reprice`: recalculates the cost of calls at the prices of their time. Resolves with the exit
 * code; rejects with `OptionError`.
 */
export async function run(
  options: RepriceOptions,
  { terminal }: CommandContext,
  { reprice, prices }: RepriceParts = realParts,
): Promise<number> {
  const { db, json, dryRun } = options
  const { clock } = terminal
  const job = { db, json, whatStays: 'Costs recalculated so far are kept. Run it again to continue.' }
  const request = requestOf(options, clock.wallTime())
  return await runDatabaseJob(terminal, job, async (report) => {
    const pricer = new PriceBook(costsOf(prices(db)))
    const onProgress = (progress: RepriceProgress): void => {
      const line: RepriceLine = { progress }
      report({ json: line, ...shareText('pricing calls', progress.done, progress.total) })
    }
    const result = done(await reprice(db, request, { pricer, clock, onProgress }), db)
    const line: RepriceLine = { result }
    return { json: line, text: dayTable(result, dryRun) }
  })
}

function requestOf(options: RepriceOptions, nowMs: number): RepriceRequest {
  const { from, to, model, onlyUnpriced, dryRun, tz: timeZone } = options
  if (from === null) throw new OptionError('--from is required: costs change from then on')
  const toMs = to ?? nowMs
  if (toMs <= from) throw new OptionError('--to must be later than --from')
  return { fromMs: from, toMs, model, onlyUnpriced, dryRun, timeZone }
}

/** The prices in force for the database at a path. Throws {@link JobError}. */
export function costsInForce(db: string): ModelCosts {
  return costsOf(realParts.prices(db))
}

function costsOf(reading: PriceReading): ModelCosts {
  if ('problem' in reading) {
    const { problem } = reading
    const message = `Could not read the price file${placeInFile(problem)}: ${problem.message}`
    throw new JobError('broken_price_file', message)
  }
  if (reading.costs !== null) return reading.costs
  throw new JobError('job_failed', 'no prices: sync or set some, and run this again.')
}

/** The changes of a re-pricing, by day and model, and in all. */
function dayTable(result: RepriceResult, isDry: boolean): string {
  const { days, calls, before_usd, after_usd, looked_calls, reported_calls, newly_priced, newly_unpriced } =
    result
  const looked = `${counted(looked_calls, 'call')} checked`
  if (calls === 0) return `No cost ${isDry ? 'would change' : 'has changed'}: ${looked}.\n`
  const rows = days.slice(0, mostLines)
  const { line } = tableOf(columns, rows, { width: Number.MAX_SAFE_INTEGER, color: false, nowMs: 0 })
  const lines = rows.map((row) => line(row))
  if (days.length > rows.length) lines.push(`and ${days.length - rows.length} more`)
  const parts = [
    `${counted(calls, 'call')} of ${looked} ${isDry ? 'would cost' : 'cost'} ${shownUsd(after_usd)} instead of ${shownUsd(before_usd)}`,
  ]
  if (newly_priced > 0) parts.push(`${counted(newly_priced, 'call')} had no price before`)
  if (newly_unpriced > 0) parts.push(`${counted(newly_unpriced, 'call')} have none now`)
  if (reported_calls > 0)
    parts.push(`${counted(reported_calls, 'call')} keep the cost their upstream reported`)
  const tail = isDry ? ' Nothing was changed.' : ''
  return `${lines.join('\n')}\n${parts.join('; ')}.${tail}\n`
}

const columns: readonly Column<RepriceDay>[] = [
  column('', 0, ({ day }) => day, { gap: '' }),
  column('', 0, ({ model }) => shorten(printable(model ?? '-'), longestName)),
  column('', 0, ({ calls }) => counted(calls, 'call'), right),
  column('', 0, ({ before_usd: before }) => shownUsd(before), right),
  column('', 0, ({ after_usd: after }) => `→ ${shownUsd(after)}`, right),
]

function shownUsd(value: number | null): string {
  return orDash(value, dollars)
}
