import type { SyncLine, SyncResult } from '../../api/costs.ts'
import { messageOf } from '../../lib/errors.ts'
import { priceFileOf } from '../../pricing/price-file.ts'
import { syncPrices } from '../../pricing/sync-prices.ts'
import { noteEvent } from '../../store/write/note-event.ts'
import { count } from '../../lib/number-format.ts'
import { exitCode } from '../exit-code.ts'
import type { CommandRun } from '../parse-options.ts'
import { ownOptionTable } from '../../options/dashboard-options.ts'
import { optionTable } from '../../options/option-spec.ts'
import { database, flag } from '../option-rows.ts'

export const example = 'tokenweir costs sync --pricing-source prices.json'
export const use = 'acts'
export const table = optionTable({
  pricingSource: ownOptionTable.pricingSource,
  json: flag('print the result as one JSON object'),
  db: database('file of the telemetry database; the prices are next to it'),
})

/** `tokenweir costs sync`: brings the prices up to date with a list. */
export const run: CommandRun<typeof table> = async ({ pricingSource: source, db, json }, { terminal }) => {
  const { clock, print, warn } = terminal
  const line = (value: SyncLine): void => print(`${JSON.stringify(value)}\n`)
  const path = priceFileOf(db)
  try {
    const result = await syncPrices(path, { source, wallTime: () => clock.wallTime() })
    const { added, changed, removed } = result
    try {
      const detail = JSON.stringify({ added, changed, removed })
      noteEvent(db, { atMs: clock.wallTime(), kind: 'price_sync', detail })
    } catch {
      // The sync has succeeded, even if the database is busy or cannot be opened.
    }
    if (json) line({ result })
    else print(`${path}: ${resultText(result)} (${source})\n`)
    return 0
  } catch (error) {
    const message = messageOf(error)
    if (json) line({ error: { code: 'sync_failed', message } })
    else warn(`tokenweir: ${message}\n`)
    return exitCode.fault
  }
}

function resultText({
  added,
  changed,
  removed,
  entries,
  rejected,
  not_modified: isKnown,
}: SyncResult): string {
  if (isKnown) return 'the list has not changed'
  return `${count(entries)} prices: ${count(added)} new, ${count(changed)} changed, ${count(removed)} removed; ${count(rejected)} entries skipped`
}
