import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { idsPerMs } from '../../src/call/call-id.ts'
import type { CallRecord } from '../../src/call/call-record.ts'
import { quantileOf } from '../../src/lib/histogram.ts'
import { callTypeCodes, outcomeCodes } from '../../src/call/fields/call-fields.ts'
import { CallSums } from '../../src/store/rollup/call-sums.ts'
import { SumReader } from '../../src/store/read/sum-reader.ts'
import { assertSameRows } from '../support/assert-same-rows.ts'
import { chatCall } from './sample-call.ts'

const hourMs = 3_600_000
export const dayMs: number = 24 * 3_600_000

const types = ['chat', 'chat', 'embedding'] as const
const outcomes = ['ok', 'ok', 'ok', 'ok', 'upstream_error', 'client_disconnected'] as const
const models = ['a', 'b', 'c', null] as const

/** One of many calls that differ in all that the rollups tell apart. */
export function variedCall(atMs: number, index: number, random: () => number): CallRecord {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!
  const outcome = pick(outcomes)
  return {
    ...chatCall(atMs * idsPerMs + (index % idsPerMs)),
    callType: pick(types),
    model: pick(models),
    outcome,
    failureCode: outcome === 'upstream_error' ? 'upstream_http' : null,
    durationMs: Math.floor(1 + 20_000 * random() ** 4),
    inputTokens: Math.floor(random() * 5000),
  }
}

interface Told {
  readonly calls: number
  readonly errors: number
  readonly tokens: number
  readonly durationCount: number
  readonly durationSumMs: number
  readonly durationMaxMs: number
}

const dimensions = ['call_type', 'model', 'outcome'] as const
type Told3 = (typeof dimensions)[number]

/** What calls add up to by bucket and entry, and their durations in order, found without any rollup. */
function countedOf(
  calls: readonly CallRecord[],
  edgesMs: readonly number[],
  by: (call: CallRecord) => unknown,
): Map<string, { readonly told: Told; readonly durations: readonly number[] }> {
  const members = new Map<string, CallRecord[]>()
  for (const call of calls) {
    const atMs = Math.floor(call.id / idsPerMs)
    const bucket = edgesMs.findLastIndex((edge) => edge <= atMs)
    if (bucket < 0 || bucket === edgesMs.length - 1) continue
    const name = `${bucket} ${String(by(call))}`
    const group = members.get(name)
    if (group === undefined) members.set(name, [call])
    else group.push(call)
  }
  const counted = new Map<string, { told: Told; durations: readonly number[] }>()
  for (const [name, group] of members) {
    const durations = group
      .filter(({ outcome }) => outcome === 'ok')
      .map(({ durationMs }) => durationMs ?? 0)
      .sort((a, b) => a - b)
    const told = {
      calls: group.length,
      errors: group.filter(({ outcome }) => outcome === 'upstream_error').length,
      tokens: group.reduce((sum, { inputTokens }) => sum + (inputTokens ?? 0), 0),
      durationCount: durations.length,
      durationSumMs: durations.reduce((sum, ms) => sum + ms, 0),
      durationMaxMs: durations.at(-1) ?? 0,
    }
    counted.set(name, { told, durations })
  }
  return counted
}

function nameIn(database: DatabaseSync, dimension: Told3): (entry: number | null) => string {
  if (dimension === 'model') {
    const rows = database.prepare('SELECT id, text FROM models').all()
    const texts = new Map(rows.map((row) => [Number(row['id']), String(row['text'])]))
    return (entry) => (entry === null ? 'null' : (texts.get(entry) ?? `model ${entry}`))
  }
  const codes = dimension === 'call_type' ? callTypeCodes : outcomeCodes
  return (entry) => Object.entries(codes).find(([, code]) => code === entry)?.[0] ?? `${dimension} ${entry}`
}

/**
 * Asserts that the database tells exactly what the calls say, in days and in hours, by type, model and outcome;
 * percentiles within 1%.
 */
export function assertTold(dbPath: string, calls: readonly CallRecord[], fromMs: number, toMs: number): void {
  const days = Array.from(
    { length: Math.round((toMs - fromMs) / dayMs) + 1 },
    (_, day) => fromMs + day * dayMs,
  )
  const hours = Array.from({ length: 97 }, (_, hour) => fromMs + hour * hourMs)
  const database = new DatabaseSync(dbPath, { readOnly: true, timeout: 5000 })
  try {
    const reader = new SumReader(database)
    for (const edgesMs of [days, hours, [fromMs, toMs]]) {
      for (const dimension of dimensions) {
        const nameOf = nameIn(database, dimension)
        const [groups = []] = reader.ask([{ edgesMs, filter: {}, dimension }])
        const found = new Map(
          groups.map(({ bucket, value: entry, sums: parts }) => {
            const figures = new CallSums()
            parts.addTo(figures)
            return [`${bucket} ${nameOf(entry)}`, figures]
          }),
        )
        const by = (call: CallRecord): unknown =>
          dimension === 'call_type' ? call.callType : call[dimension]
        const counted = countedOf(calls, edgesMs, by)
        const told = new Map(
          [...found].map(([name, figures]) => {
            const { count, sum, max } = figures.distributions.duration_us
            return [
              name,
              {
                calls: figures.sum('calls'),
                errors: figures.sum('errors'),
                tokens: figures.sum('input_tokens'),
                durationCount: count,
                durationSumMs: sum / 1000,
                durationMaxMs: max / 1000,
              },
            ]
          }),
        )
        const expected = new Map([...counted].map(([name, group]) => [name, group.told]))
        assertSameRows(sorted(told), sorted(expected))
        for (const [name, { durations }] of counted) {
          for (const quantile of [0.5, 0.9, 0.99]) assertClose(found.get(name)!, durations, quantile)
        }
      }
    }
  } finally {
    database.close()
  }
}

function assertClose(figures: CallSums, durations: readonly number[], quantile: number): void {
  const exact = quantileOf(durations.length, quantile, (rank) => durations[rank]!)
  const told = figures.distributions.duration_us.histogram.percentile(quantile)
  if (exact === null) assert.equal(told, null)
  else
    assert.ok(Math.abs(told! / 1000 - exact) <= exact * 0.01, `${told! / 1000} is not within 1% of ${exact}`)
}

function sorted(groups: ReadonlyMap<string, Told>): readonly (readonly [string, Told])[] {
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1))
}
