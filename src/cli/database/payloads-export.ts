import { type ExportedConversations, exportConversations } from '../../export/export-conversations.ts'
import { type SkipReason, skipWords } from '../../export/training-example.ts'
import { gatewayOptionTable } from '../../options/gateway-options.ts'
import { listSegments } from '../../payloads/file/payload-segments.ts'
import { optionTable } from '../../options/option-spec.ts'
import { openCallReader } from '../../store/read/call-query.ts'
import { CommandError } from '../exit-code.ts'
import { database } from '../option-rows.ts'
import type { CommandRun } from '../parse-options.ts'
import { bytes, count, counted, percent } from '../terminal/figures.ts'
import { filterIn, filterRows } from '../filter-options.ts'
import { type Output, outputRows, showProgress, toOutput } from './output.ts'

export const table = optionTable({
  ...outputRows,
  ...filterRows,
  rawLogFile: gatewayOptionTable.rawLogFile,
  db: database(),
})

/** `tokenweir payloads export`: conversations of the raw log, for fine-tuning. */
export const run: CommandRun<typeof table> = async (options) => {
  const { rawLogFile: filePath, db } = options
  const filter = filterIn(options, Date.now())
  if (listSegments(filePath).length === 0) {
    const advice = '--raw-log of the gateway switches the log on, --raw-log-file names another'
    throw new CommandError(`${filePath}: no payloads are kept there; ${advice}`)
  }
  const reader = openCallReader(db)
  const calls = typeof reader === 'string' ? null : reader
  const { show, clear } = showProgress()
  try {
    return await toOutput(options, async (output) => {
      const onProgress = (share: number): void => show(() => `read: ${percent(share)}`)
      const work = exportConversations({ filePath, filter, calls }, output.write, onProgress)
      return endText(await work.finally(clear), output)
    })
  } finally {
    calls?.close()
  }
}

function endText({ conversations, skipped }: ExportedConversations, { bytes: size, words }: Output): string {
  const written = `${counted(conversations, 'conversation')}, ${bytes(size)} written${words}.\n`
  if (skipped.size === 0) return written
  const reasons = [...skipped].map(
    ([reason, calls]: readonly [SkipReason, number]) => `${count(calls)} ${skipWords[reason]}`,
  )
  return `${written}Calls that were left out: ${reasons.join(', ')}.\n`
}
