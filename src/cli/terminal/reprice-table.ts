import type { RepriceDay, RepriceResult } from '../../api/costs.ts'
import { displayWidth, pad, printable, shorten } from './display-width.ts'
import { counted, exactDollars, known } from './figures.ts'

/** Days and models that are listed; further ones are counted. */
const mostLines = 60
const longestName = 40

/** What re-pricing changes, or would change, by day and model, and in all. */
export function dayTable(result: RepriceResult, isDry: boolean): string {
  const { days, calls, before_usd, after_usd, looked_calls, reported_calls, newly_priced, newly_unpriced } =
    result
  const looked = `${counted(looked_calls, 'call')} looked at`
  if (calls === 0) return `No cost ${isDry ? 'would change' : 'has changed'}: ${looked}.\n`
  const rows = days.slice(0, mostLines).map(cellsOf)
  const widths = [0, 1, 2, 3, 4].map((column) =>
    Math.max(...rows.map((row) => displayWidth(row[column] ?? ''))),
  )
  const lines = rows.map((row) =>
    row.map((cell, column) => pad(cell, widths[column] ?? 0, column < 2 ? 'left' : 'right')).join('  '),
  )
  if (days.length > rows.length) lines.push(`and ${days.length - rows.length} more`)
  const parts = [
    `${counted(calls, 'call')} of ${looked} ${isDry ? 'would cost' : 'cost'} ${usd(after_usd)} in place of ${usd(before_usd)}`,
  ]
  if (newly_priced > 0) parts.push(`${counted(newly_priced, 'call')} had no price before`)
  if (newly_unpriced > 0) parts.push(`${counted(newly_unpriced, 'call')} have none any more`)
  if (reported_calls > 0) parts.push(`${counted(reported_calls, 'call')} keep what their upstream reported`)
  const tail = isDry ? ' Nothing was changed.' : ''
  return `${lines.join('\n')}\n${parts.join('; ')}.${tail}\n`
}

function cellsOf({ day, model, calls, before_usd, after_usd }: RepriceDay): readonly string[] {
  const name = shorten(printable(model ?? '-'), longestName)
  return [day, name, counted(calls, 'call'), usd(before_usd), `→ ${usd(after_usd)}`]
}

function usd(value: number | null): string {
  return known(value, exactDollars)
}
