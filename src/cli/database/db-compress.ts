import type { CompressProgress, CompressResult } from '../../api/database-job.ts'
import { compressStore } from '../../store/jobs/compress-store.ts'
import type { CommandContext } from '../parse-options.ts'
import { bytes, counted, duration } from '../../lib/number-format.ts'
import { done, runDatabaseJob, shareText } from './database-job.ts'
import { type OptionsOf, optionTable } from '../../options/option-spec.ts'
import { integer } from '../../options/value-kind.ts'
import { database, flag, value } from '../option-rows.ts'

export const example = 'tokenweir db compress --keep-days 90 --dry-run'
export const use = 'acts'
export const table = optionTable({
  keepDays: value(integer(1, 36_500), 90, 'days (UTC) of individual calls to keep'),
  dryRun: flag('only show what would be done'),
  json: flag('print progress and result as one JSON object per line'),
  db: database(),
})

type CompressOptions = OptionsOf<typeof table>

const phaseText = {
  roll_up: 'adding up calls',
  fold: 'rolling up old calls',
  give_back: 'shrinking the file',
}

/**
 * `tokenweir db compress`: folds old calls and shrinks the file. Resolves with the exit code; rejects with
 * `OptionError`.
 */
export async function run(
  options: CompressOptions,
  { terminal }: CommandContext,
  compress: typeof compressStore = compressStore,
): Promise<number> {
  const { keepDays, dryRun, db, json } = options
  const whatStays = 'Calls rolled up so far stay rolled up; nothing is lost. Run it again to continue.'
  return await runDatabaseJob(terminal, { db, json, whatStays }, async (report) => {
    const onProgress = (progress: CompressProgress): void => {
      const { phase, done: by, total } = progress
      report({ json: progress, phase, ...shareText(phaseText[phase], by, total) })
    }
    const outcome = done(await compress(db, { keepDays, dryRun }, { clock: terminal.clock, onProgress }), db)
    return { json: outcome, text: resultText(outcome, options) }
  })
}

function resultText(
  { before_bytes, after_bytes, folded_calls, duration_ms }: CompressResult,
  { keepDays, dryRun, db }: CompressOptions,
): string {
  const calls = counted(folded_calls, 'call')
  const sizes = `${bytes(before_bytes)} → ${dryRun ? 'about ' : ''}${bytes(after_bytes)}`
  return dryRun
    ? `${calls} older than ${keepDays} days would be rolled up; ${db} would shrink: ${sizes}. Nothing was changed.\n`
    : `${calls} older than ${keepDays} days were rolled up in ${duration(duration_ms)}; ${db}: ${sizes}.\n`
}
