import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entry } from '../../test/support/price-list.ts'
import type { CallAnswer, CallQuestion, GroupFigures } from '../call/call-question.ts'
import type { CallReader } from '../call/call-reader.ts'
import { noPrices } from '../pricing/model-costs.ts'
import { PriceBook } from '../pricing/price-book.ts'
import { emptyFigures } from '../store/group-figures.ts'
import type { ServedModel, ServedReader } from '../store/served-models.ts'
import { emptyReader } from './empty-reader.ts'
import { matchesAnswer } from './matches-answer.ts'

const nowMs = Date.UTC(2026, 10, 21)
const hourMs = 3_600_000
const book = new PriceBook({ ...noPrices, models: { 'gpt-4o': entry('openai', { input: 1, output: 2 }) } })
const question = { kind: 'matches', fromMs: nowMs - hourMs, toMs: nowMs, fileState: '' } as const

function figures(calls: number, costUsd: number | null, unpriced: number): GroupFigures {
  return {
    ...emptyFigures,
    calls,
    unpriced_calls: unpriced,
    input_tokens: 10 * calls,
    output_tokens: calls,
    cost_usd: costUsd,
  }
}

/** So many calls of each model that nobody could read one by one. */
function manyCalls(
  models: Readonly<Record<string, GroupFigures>>,
  foldedMs: number | null = null,
): CallReader {
  const groups = Object.entries(models).map(([entry, figures]) => ({
    bucket: 0,
    entry,
    isRest: false,
    figures,
  }))
  const calls = groups.reduce((sum, { figures }) => sum + figures.calls, 0)
  return {
    ...emptyReader,
    extent: () => ({ firstMs: 0, lastMs: nowMs }),
    foldedUntilMs: () => foldedMs,
    aggregate: ({ dimension }: CallQuestion): CallAnswer => ({
      groups: dimension === 'model' ? groups : [],
      summary: { ...emptyFigures, calls },
    }),
  }
}

function served(model: string, upstream: string, calls: number): ServedModel {
  const costNanoUsd = upstream === 'api.openai.com' ? calls : null
  const unpricedCalls = costNanoUsd === null ? calls : 0
  return {
    upstream,
    model,
    responseModel: null,
    calls,
    unpricedCalls,
    inputTokens: 10 * calls,
    outputTokens: calls,
    costNanoUsd,
  }
}

function sample(newest: Readonly<Record<string, readonly ServedModel[]>>): ServedReader {
  return {
    between: () => assert.fail('not read one by one'),
    latest: (model) => newest[model ?? ''] ?? [],
    close: () => undefined,
  }
}

test('of very many calls the sums by model are told, with who answered the newest of them', () => {
  const calls = manyCalls({
    'gpt-4o': figures(900_000, 4.5, 0),
    refused: figures(10, null, 0),
    lost: figures(7, null, 7),
  })
  const newest = { 'gpt-4o': [served('gpt-4o', 'api.openai.com', 200)] }
  const { matches } = matchesAnswer(calls, sample(newest), book, question, nowMs)
  assert.deepEqual(
    matches.map(({ model, upstream, calls, cost_usd, approximate, price }) => [
      model,
      upstream,
      calls,
      cost_usd,
      approximate ?? false,
      'key' in price ? price.key : price.none,
    ]),
    [
      ['gpt-4o', 'api.openai.com', 900_000, 4.5, false, 'gpt-4o'],
      // What never used anything is left out; what did, and left no row, is there.
      ['lost', null, 7, null, true, 'unknown_upstream'],
    ],
  )
})

test('where several answered a model, its sums are shared out as its newest calls were, and add up', () => {
  const whole = figures(1_000_001, 0.000_000_07, 250_003)
  const newest = {
    'gpt-4o': [served('gpt-4o', 'api.openai.com', 150), served('gpt-4o', '127.0.0.1:8080', 50)],
  }
  const { matches } = matchesAnswer(manyCalls({ 'gpt-4o': whole }), sample(newest), book, question, nowMs)
  assert.deepEqual(
    matches.map(({ upstream, calls, unpriced_calls, cost_usd }) => [
      upstream,
      calls,
      unpriced_calls,
      cost_usd,
    ]),
    [
      ['api.openai.com', 750_001, 0, 0.000_000_07],
      ['127.0.0.1:8080', 250_000, 250_003, null],
    ],
  )
  for (const name of ['calls', 'unpriced_calls', 'input_tokens', 'output_tokens'] as const) {
    assert.equal(
      matches.reduce((sum, match) => sum + match[name], 0),
      whole[name],
    )
  }
  assert.ok(matches.every(({ approximate }) => approximate))
})

test('a range that reaches back to folded calls is told by sums, however few they are', () => {
  const calls = manyCalls({ 'gpt-4o': figures(3, 1, 0) }, nowMs - hourMs / 2)
  const newest = { 'gpt-4o': [served('gpt-4o', 'api.openai.com', 1)] }
  assert.equal(matchesAnswer(calls, sample(newest), book, question, nowMs).matches[0]?.calls, 3)
})
