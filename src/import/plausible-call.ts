import { storedFields } from '../call/fields/call-fields.ts'
import type { StoredCall } from '../call/call-record.ts'
import { amountOf } from '../call/fields/field-kinds.ts'
import { plausibleAmounts } from '../call/fields/plausible-amounts.ts'

/** Fields that are amounts, and the bounds of each. */
const amounts = storedFields.flatMap((field) => {
  const units = amountOf(field.kind)
  return units === null ? [] : [{ field, units, bounds: plausibleAmounts(field) }]
})

/** The call with impossible amounts removed, and these amounts. */
export function plausible(call: StoredCall): {
  readonly call: StoredCall
  readonly notes: readonly string[]
} {
  const notes: string[] = []
  const without: Record<string, number | null> = {}
  for (const { field, units, bounds } of amounts) {
    const value = call[field.record]
    if (typeof value !== 'number') continue
    const [least, most] = bounds
    const stored = value * units.perRecord
    if (stored >= least && stored <= most) continue
    const shownValue = stored / units.perShown
    notes.push(`${field.name}: ${shownValue} is out of range for one call`)
    without[field.record] = field.required === true ? 0 : null
    if (field.name === 'cost_usd') Object.assign(without, { priceSource: null, priceKey: null })
  }
  return { call: notes.length === 0 ? call : { ...call, ...without }, notes }
}
