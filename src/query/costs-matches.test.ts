import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CostMatches } from '../api/costs.ts'
import { entry } from '../../test/support/price-list.ts'
import { noPrices } from '../pricing/model-costs.ts'
import { PriceBook } from '../pricing/price-book.ts'
import type { CallReader } from '../call/call-reader.ts'
import type { ServedModel } from '../call/figures.ts'
import { emptyStore } from './query-service.ts'
import { matchesAnswer } from './costs-answer.ts'

const nowMs = Date.UTC(2026, 10, 21)
const hourMs = 3_600_000
const book = new PriceBook({ ...noPrices, models: { 'gpt-4o': entry('openai', { input: 1, output: 2 }) } })
const question = { kind: 'matches', fromMs: nowMs - hourMs, toMs: nowMs, fileState: '' } as const

function served(upstream: string, calls: number): ServedModel {
  const cost_usd = upstream === 'api.openai.com' ? calls / 1e9 : null
  return {
    upstream,
    model: 'gpt-4o',
    response_model: null,
    calls,
    unpriced_calls: cost_usd === null ? calls : 0,
    input_tokens: 10 * calls,
    output_tokens: calls,
    cost_usd,
  }
}

/** Two upstreams of one model, counted from `newestMs` on at the earliest; and what was asked for. */
async function answered(
  newestMs: number,
  foldedMs: number | null = null,
): Promise<{ answer: CostMatches; askedMs: number[] }> {
  const askedMs: number[] = []
  const calls: CallReader = {
    ...emptyStore,
    extent: async () => ({ firstMs: 0, lastMs: nowMs }),
    foldedUntilMs: async () => foldedMs,
    servedModels: async (fromMs, toMs) => {
      askedMs.push(fromMs, toMs)
      const models = [served('127.0.0.1:8080', 24), served('api.openai.com', 292_780)]
      return { fromMs: Math.max(fromMs, newestMs), models }
    },
  }
  return { answer: await matchesAnswer(calls, book, question, nowMs), askedMs }
}

test('what each upstream answered is counted, and nothing shared out', async () => {
  const { answer, askedMs } = await answered(0)
  assert.deepEqual(askedMs, [nowMs - hourMs, nowMs])
  const [priced, local, ...others] = answer.matches
  assert.partialDeepStrictEqual(priced, { ...served('api.openai.com', 292_780), price: { key: 'gpt-4o' } })
  assert.partialDeepStrictEqual(local, { ...served('127.0.0.1:8080', 24), price: { none: 'local' } })
  assert.equal(others.length, 0)
  assert.equal(answer.counted_from, null)
})

test('calls that take too long to count, or are folded, are left out, and it says from when on', async () => {
  for (const [newestMs, foldedMs, expectedMs] of [
    [nowMs - 600_000, null, nowMs - 600_000],
    [0, nowMs - 900_000, nowMs - 900_000],
    [nowMs - 600_000, nowMs - 900_000, nowMs - 600_000],
    [0, nowMs + hourMs, nowMs],
  ] as const) {
    const { answer, askedMs } = await answered(newestMs, foldedMs)
    assert.deepEqual(askedMs, [Math.min(Math.max(nowMs - hourMs, foldedMs ?? 0), nowMs), nowMs])
    assert.equal(answer.counted_from, new Date(expectedMs).toISOString())
  }
})
