import type { PriceEntry } from '../api/costs.ts'
import { type CheckedValue, WrongValue } from './checked-value.ts'
import { parseIsoInstant } from '../lib/iso-instant.ts'
import { mostUsd, rateOf } from './rate-bounds.ts'

interface SimpleMember {
  readonly name: string
  readonly value: CheckedValue
  readonly entry: PriceEntry
}

/** Whether it is a file of the older form, in which every model has a list of dated prices. */
export function isSimpleForm(root: CheckedValue): boolean {
  const { value } = root
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const members = Object.values(value)
  return !('version' in value) && members.length > 0 && members.every((member) => Array.isArray(member))
}

/** Its entries. They become overrides: such a file is written by hand, and says nothing of upstreams. */
export function simpleForm(root: CheckedValue): readonly SimpleMember[] {
  return root.entries().map(({ name, value }) => ({ name, value, entry: simpleEntry(value) }))
}

/** One model's list, the newest source named. Throws `WrongValue`. */
export function simpleEntry(list: CheckedValue): PriceEntry {
  const seen = new Set<number>()
  const periods = list.elements().map((value) => {
    const parts = value.members([
      'effective_date',
      'input_cost_per_million',
      'output_cost_per_million',
      'provider_source',
    ])
    const { text, atMs } = effective(parts.effective_date)
    if (seen.has(atMs)) throw new WrongValue(value.path, 'begins when another of this list does')
    seen.add(atMs)
    const source = parts.provider_source.isAbsent ? 'user' : parts.provider_source.text()
    const input = rate(parts.input_cost_per_million)
    const output = rate(parts.output_cost_per_million)
    const tiers = [{ above_input_tokens: 0, input, output }]
    return { atMs, period: { effective_from: text, tiers, source } }
  })
  periods.sort((a, b) => a.atMs - b.atMs)
  const newest = periods.at(-1)?.period.source ?? 'user'
  return { source: newest, prices: periods.map(({ period }) => period) }
}

function effective(value: CheckedValue): { readonly text: string | null; readonly atMs: number } {
  if (value.isAbsent || value.value === null) return { text: null, atMs: -Infinity }
  const atMs = typeof value.value === 'string' ? parseIsoInstant(value.value) : null
  if (atMs === null) throw value.wrong('a day such as 2026-11-21, or an instant such as 2026-11-21T04:00:00Z')
  return { text: value.text(), atMs }
}

function rate(value: CheckedValue): number {
  const rounded = rateOf(value.value)
  if (rounded === null) throw value.wrong(`a number from 0 to ${mostUsd} (USD per million tokens)`)
  return rounded
}
