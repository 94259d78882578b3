import assert from 'node:assert/strict'
import type { CallFilter } from '../../src/call/call-filter.ts'
import { callDimensions } from '../../src/call/call-question.ts'
import type { StoreReader } from '../../src/call/call-reader.ts'
import type { CallJson } from '../../src/call/call-record.ts'

export function withoutSource(calls: readonly CallJson[]): readonly object[] {
  return calls.map((call) => ({ ...call, source: null }))
}

/** Sums of speeds are rounded as calls come to them, in whatever order. */
export function assertNear(told: unknown, expected: unknown, where = ''): void {
  if (typeof told === 'number' && typeof expected === 'number') {
    assert.ok(Math.abs(told - expected) <= 1e-6 * Math.abs(expected), `${where}: ${told}, not ${expected}`)
  } else if (typeof told === 'object' && told !== null && typeof expected === 'object' && expected !== null) {
    assert.deepEqual(Object.keys(told), Object.keys(expected), where)
    const others = Object.values(expected)
    for (const [index, [name, one]] of Object.entries(told).entries())
      assertNear(one, others[index], `${where}.${name}`)
  } else assert.equal(told, expected, where)
}

/** Answers to fifty questions: filters, times and groups as the page asks for them. Closes the reader. */
export async function fiftyAnswers(
  reader: StoreReader,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<readonly unknown[]> {
  const at = (share: number): number => Math.floor(fromMs + share * (toMs - fromMs))
  const filters: readonly CallFilter[] = [
    {},
    { failedOnly: true },
    { outcome: ['ok'], min_ms: 1000 },
    { fromMs: at(0.25) + 1234, toMs: at(0.45) },
    { call_type: ['embedding'] },
  ]
  const answers: unknown[] = []
  for (const filter of filters) {
    const edgesMs = Array.from({ length: 8 }, (_, index) => at((index * 1.05) / 7))
    for (const dimension of [null, ...callDimensions].slice(0, 8)) {
      answers.push(await reader.aggregate({ filter, edgesMs, dimension }))
    }
    answers.push(withoutSource(await reader.list(filter, { limit: 50, sort: 'cost' })))
    answers.push(await reader.sessions(filter, { limit: 20 }))
  }
  reader.close()
  return answers
}
