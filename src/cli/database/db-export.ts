import { type ExportFormat, exportFormats } from '../../api/database-job.ts'
import { callEncoder } from '../../export/call-encoder.ts'
import { type Exported, type ExportProgress, exportCalls } from '../../export/export-calls.ts'
import { optionTable } from '../../options/option-spec.ts'
import { oneOf } from '../../options/value-kind.ts'
import { callReader } from '../../store/read/call-query.ts'
import { openForReading } from '../../store/sqlite/open-store.ts'
import { database, value } from '../option-rows.ts'
import { type CommandRun, OptionError } from '../parse-options.ts'
import { bytes, counted } from '../../lib/number-format.ts'
import { filterIn, filterRows } from '../filter-options.ts'
import { done } from './database-job.ts'
import { type Output, outputRows, showProgress, toOutput } from './output.ts'

export const example = 'tokenweir db export --since 30d --out calls.csv'
export const use = 'reads'
export const table = optionTable({
  format: value<ExportFormat>(oneOf(exportFormats), 'csv', 'format of the file'),
  ...outputRows,
  ...filterRows,
  db: database(),
})

/** `tokenweir db export`: writes calls, newest first, with the fields of `/api/query`. */
export const run: CommandRun<typeof table> = async (options) => {
  const { format, out, db } = options
  const filter = filterIn(options, Date.now())
  if (format === 'parquet' && out === null && process.stdout.isTTY) {
    throw new OptionError('--format parquet is not for a terminal; name a file with --out')
  }
  // No large page cache, because every page is read only once.
  const reader = callReader(done(openForReading(db), db))
  const { show, clear } = showProgress()
  try {
    await toOutput(options, async (output) => {
      const encoder = await callEncoder(format)
      const onProgress = (progress: ExportProgress): void =>
        show(() => `${figures(progress.calls, output.bytes)}, back to ${progress.first}`)
      const exported = await exportCalls(reader, filter, encoder, output.write, onProgress).finally(clear)
      return endText(exported, output)
    })
  } finally {
    reader.close()
  }
}

/** The calls in the file, and the missing ones. */
function endText({ calls, first, last, folded }: Exported, { bytes: size, words }: Output): string {
  const range = first === null ? '' : `, from ${first} to ${last}`
  const summary = `${figures(calls, size)} written${words}${range}.\n`
  if (folded === null) return summary
  const callsText = folded.calls === null ? 'Calls' : counted(folded.calls, 'call')
  const are = folded.calls === 1 ? 'is' : 'are'
  const until = new Date(folded.untilMs).toISOString().replace(/:00\.000Z$/, 'Z')
  return `${summary}${callsText} before ${until} ${are} not included: rolled up into totals.\n`
}

function figures(calls: number, size: number): string {
  return `${counted(calls, 'call')}, ${bytes(size)}`
}
