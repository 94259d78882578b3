import { createWriteStream } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { ImportProblem, ImportResult } from '../../api/database-job.ts'
import { type ImportSource, importForms, importSources } from '../../import/forms.ts'
import { type OpenImport, openImport } from '../../import/open-import.ts'
import { ImportError } from '../../import/text-blocks.ts'
import { TemporaryFolder } from '../../lib/files/temporary-folder.ts'
import { oneOf, type ValueKind } from '../../options/value-kind.ts'
import { type OptionsOf, optionTable } from '../../options/option-spec.ts'
import { changePrices } from '../../pricing/change-prices.ts'
import { PriceBook } from '../../pricing/price-book.ts'
import { priceFileOf, readCosts } from '../../pricing/price-file.ts'
import { importCalls } from '../../store/jobs/import-calls.ts'
import { databasePlace } from '../../store/sqlite/older-proxy.ts'
import { JobError } from '../../supervisor/run-job.ts'
import { exitCode } from '../exit-code.ts'
import { database, flag, optional } from '../option-rows.ts'
import type { CommandRun } from '../parse-options.ts'
import { count as withCommas, counted, duration } from '../../lib/number-format.ts'
import { printable } from '../terminal/printable.ts'
import { done, runDatabaseJob, shareText } from './database-job.ts'
import { costsInForce } from './db-reprice.ts'

const source: ValueKind<ImportSource> = oneOf(importSources)

export const example = 'tokenweir db import spend-logs.csv --dry-run'
export const use = 'acts'
export const table = optionTable({
  from: optional(source, 'origin of the file (default: detected)'),
  price: flag('price calls without a cost, at the prices of their time'),
  dryRun: flag('only show what would be added'),
  json: flag('print progress and result as one JSON object per line'),
  db: database(),
})

export const positional = [
  '<file>',
  'an export of tokenweir or LiteLLM, optionally gzipped, or the database of the older Python proxy; - reads standard input',
] as const

type ImportOptions = OptionsOf<typeof table>

/** The result of an import, and its number of prices. */
interface Outcome extends ImportResult {
  readonly prices: number
}

const whatStays = 'Calls added so far are kept. Run it again to add the rest.'

/** `tokenweir db import`: adds calls that were recorded elsewhere. */
export const run: CommandRun<typeof table> = async (options, { positionals: [input = ''], terminal }) => {
  await using stack = new AsyncDisposableStack()
  const file = input === '-' ? await standardInput(stack) : input
  const { path: db } = databasePlace(options.db)
  const { clock } = terminal
  let isComplete = true
  const code = await runDatabaseJob(terminal, { db, json: options.json, whatStays }, async (report) => {
    const opened = await orJobError(openImport(file, options.from))
    const onProgress = (progress: { readonly done: number; readonly total: number }): void => {
      report({ json: { progress }, ...shareText('importing', progress.done, progress.total) })
    }
    const prices = opened.source === 'api-calls' ? await bringPrices(file, db, options.dryRun) : 0
    const pricer = options.price ? new PriceBook(costsInForce(db)) : null
    const request = { ...opened, file: resolve(file), dryRun: options.dryRun }
    const result = done(await importCalls(db, request, { clock, onProgress, pricer }), db)
    isComplete = result.stopped === null && result.skipped === 0
    const outcome = { ...result, prices }
    return { json: { result: outcome }, text: resultText(outcome, opened, options) }
  })
  return isComplete ? code : exitCode.fault
}

/**
 * Copies standard input to a temporary file, because an import reads the beginning twice. Disposing the stack
 * deletes the file.
 */
async function standardInput(stack: AsyncDisposableStack): Promise<string> {
  const file = join(stack.use(new TemporaryFolder('tokenweir-')).path, 'standard-input')
  await pipeline(process.stdin, createWriteStream(file, { mode: 0o600 }))
  return file
}

async function orJobError(opening: Promise<OpenImport>): Promise<OpenImport> {
  return await opening.catch((error: unknown) => {
    throw error instanceof ImportError
      ? new JobError('job_failed', `${error.message}. Nothing was imported.`)
      : error
  })
}

/**
 * Imports the prices beside the older proxy's database, except for names that already have a price. Resolves
 * with their number.
 */
async function bringPrices(file: string, db: string, dryRun: boolean): Promise<number> {
  const priceFile = join(dirname(file), 'model_costs.json')
  if (resolve(priceFile) === resolve(priceFileOf(db))) return 0
  const theirOverrides = Object.entries(readCosts(priceFile)?.overrides ?? {})
  if (theirOverrides.length === 0) return 0
  const fresh = (existing: object): typeof theirOverrides => {
    const names = new Set(Object.keys(existing).map((name) => name.toLowerCase()))
    return theirOverrides.filter(([name]) => !names.has(name.toLowerCase()))
  }
  if (dryRun) return fresh(readCosts(priceFileOf(db))?.overrides ?? {}).length
  return await changePrices(priceFileOf(db), (costs) => {
    const newOverrides = fresh(costs.overrides)
    const overrides = { ...costs.overrides, ...Object.fromEntries(newOverrides) }
    return [newOverrides.length === 0 ? null : { ...costs, overrides }, newOverrides.length]
  })
}

function resultText(result: Outcome, { source: from }: OpenImport, { dryRun, price }: ImportOptions): string {
  const { added, present, skipped, problems, notes, stopped, prices } = result
  const were = dryRun ? 'would be added' : `added in ${duration(result.duration_ms)}`
  const lines = [
    `${counted(added, 'call')} of ${importForms[from].words} ${were}; ${withCommas(present)} there already, ${withCommas(skipped)} skipped`,
  ]
  const row = from === 'api-calls' ? 'row' : 'line'
  const printProblem = (what: string, { count, problem, lines: where }: ImportProblem): void => {
    const more = count > where.length ? ', …' : ''
    lines.push(`  ${withCommas(count)} ${what}, ${row} ${where.join(', ')}${more}: ${printable(problem)}`)
  }
  for (const problem of problems) printProblem('skipped', problem)
  for (const note of notes) printProblem('without a value', note)
  if (prices > 0)
    lines.push(`${counted(prices, 'price')} of its model_costs.json ${dryRun ? 'would come' : 'came'} along`)
  if (stopped !== null) {
    lines.push(
      `Stopped: ${printable(stopped)}.`,
      dryRun
        ? 'Calls before that can be imported.'
        : 'Calls before that were kept. Fix the file and run this again.',
    )
  }
  if (!dryRun && !price && added > 0)
    lines.push('To price calls without a cost: tokenweir db reprice --only-unpriced --from <day>')
  return `${lines.join('\n')}${dryRun ? '\nNothing was changed.' : ''}\n`
}
