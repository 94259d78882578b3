import type { RepriceDay, RepriceResult } from '../../api/costs.ts'

/** Days and models that are listed; further ones are counted. */
const mostLines = 60
const longestName = 40

/** What re-pricing changes, or would change, by day and model, and in all. */
export function dayTable(result: RepriceResult, isDry: boolean): string {
  const { days, calls, before_usd, after_usd, looked_calls, reported_calls, newly_priced, newly_unpriced } =
    result
  const looked = `${count(looked_calls)} looked at`
  if (calls === 0) return `No cost ${isDry ? 'would change' : 'has changed'}: ${looked}.\n`
  const rows = days.slice(0, mostLines).map(cellsOf)
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  const lines = rows.map((row) =>
    row
      .map((cell, column) =>
        column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  '),
  )
  if (days.length > rows.length) lines.push(`and ${days.length - rows.length} more`)
  const parts = [
    newly_priced > 0 ? `${count(newly_priced)} had no price before` : '',
    newly_unpriced > 0 ? `${count(newly_unpriced)} have none any more` : '',
    reported_calls > 0 ? `${count(reported_calls)} keep what their upstream reported` : '',
  ].filter((part) => part !== '')
  const all = `${count(calls)} of ${looked} ${isDry ? 'would cost' : 'cost'} ${usd(after_usd)} in place of ${usd(before_usd)}`
  const tail = isDry ? ' Nothing was changed.' : ''
  return `${lines.join('\n')}\n${[all, ...parts].join('; ')}.${tail}\n`
}

function cellsOf({ day, model, calls, before_usd, after_usd }: RepriceDay): readonly string[] {
  const name = shown(model ?? '-')
  return [day, name, count(calls), usd(before_usd), `→ ${usd(after_usd)}`]
}

/** Names come from clients: what a terminal would take for an order is left out. */
function shown(name: string): string {
  const plain = name.replaceAll(/[\p{C}\p{Z}]/gu, ' ')
  return plain.length > longestName ? `${plain.slice(0, longestName - 1)}…` : plain
}

function count(calls: number): string {
  return `${calls.toLocaleString('en')} ${calls === 1 ? 'call' : 'calls'}`
}

function usd(value: number | null): string {
  return value === null
    ? '–'
    : `$${value.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 6 })}`
}
