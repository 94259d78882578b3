import { type NamedField, storedFields } from '../call/call-fields.ts'
import type { StoredCall } from '../call/call-record.ts'
import { plausibleAmounts } from '../call/plausible-amounts.ts'

/** Fields that are amounts, the bounds of each, and what it is multiplied by in its column. */
const amounts = storedFields.flatMap((field) => {
  const factor = factorOf(field)
  return factor === 0 ? [] : [{ field, factor, bounds: plausibleAmounts(field) }]
})

function factorOf({ kind }: NamedField): number {
  if (kind === 'time') return 1000
  return kind === 'count' || kind === 'cost' ? 1 : 0
}

/** A call without the amounts that cannot be true, and what they were. */
export function plausible(call: StoredCall): {
  readonly call: StoredCall
  readonly notes: readonly string[]
} {
  const notes: string[] = []
  const without: Record<string, number | null> = {}
  for (const { field, factor, bounds } of amounts) {
    const value = call[field.record]
    if (typeof value !== 'number') continue
    const [least, most] = bounds
    if (value * factor >= least && value * factor <= most) continue
    const said = field.kind === 'cost' ? value / 1e9 : value
    notes.push(`${field.name}: ${said} is more, or less, than one call can have`)
    without[field.record] = field.required === true ? 0 : null
    if (field.name === 'cost_usd') Object.assign(without, { priceSource: null, priceKey: null })
  }
  return { call: notes.length === 0 ? call : { ...call, ...without }, notes }
}
