import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addChoices, noFigures, readFigures, type ReportedFigures, type UsagePieces } from './read-usage.ts'

const zeros = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  inputAudioTokens: null,
  outputAudioTokens: null,
  reasoningTokens: 0,
  totalTokens: 0,
  usageSource: 'usage',
} satisfies Partial<ReportedFigures>

type Usage = Pick<ReportedFigures, keyof typeof zeros>

/** Of the figures what counts tokens; null where no usage is known. */
function usageIn(figures: ReportedFigures): Usage | null {
  const counts = Object.keys(zeros).map((name) => [name, figures[name as keyof Usage]])
  if (figures.usageSource !== 'none') return Object.fromEntries(counts) as Usage
  assert.ok(counts.every(([, count]) => count === null || count === 'none'))
  return null
}

const figuresOf = (pieces: UsagePieces, more: object = {}): ReportedFigures =>
  readFigures(pieces, { callType: 'chat', ...more })

test('cached input that an upstream leaves out of the prompt is added, and a part is never more than its whole', () => {
  const counts = { prompt_tokens: 5, completion_tokens: 2 }
  const apart = { ...counts, total_tokens: 57, prompt_tokens_details: { cached_tokens: 50 } }
  const told = { inputTokens: 55, outputTokens: 2, cachedInputTokens: 50, totalTokens: 57 }
  assert.deepEqual(usageIn(figuresOf({ usage: apart })), { ...zeros, ...told })
  const cut = { inputTokens: 5, outputTokens: 2, cachedInputTokens: 5, totalTokens: 7 }
  assert.deepEqual(usageIn(figuresOf({ usage: { ...counts, prompt_cache_hit_tokens: 9 } })), {
    ...zeros,
    ...cut,
  })
})

test('audio that an upstream counts beside the prompt is input, also of a transcription', () => {
  const usage = { prompt_tokens: 3, completion_tokens: 41, total_tokens: 419 }
  const told = { inputTokens: 378, outputTokens: 41, inputAudioTokens: 375, totalTokens: 419 }
  for (const callType of ['chat', 'other']) {
    const apart = { ...usage, prompt_tokens_details: { cached_tokens: 0, audio_tokens: 375 } }
    assert.deepEqual(usageIn(figuresOf({ usage: apart }, { callType })), { ...zeros, ...told })
  }
  const within = { ...usage, prompt_tokens: 378, prompt_tokens_details: { audio_tokens: 375 } }
  assert.deepEqual(usageIn(figuresOf({ usage: within })), { ...zeros, ...told })
})

test('timings without the cached part would count too little, and do not count', () => {
  assert.equal(usageIn(figuresOf({ timings: { prompt_n: 2, predicted_n: 3 } })), null)
})

test('the output that stands at the start of an Anthropic stream is no count', () => {
  const startUsage = { input_tokens: 10, output_tokens: 1 }
  assert.equal(usageIn(figuresOf({ startUsage, usage: { outputs: 70 } })), null)
  const usage = usageIn(figuresOf({ startUsage }))
  assert.deepEqual([usage?.inputTokens, usage?.outputTokens, usage?.totalTokens], [10, null, null])
})

const timed = (predicted_n: number, predicted_ms: number): UsagePieces => ({
  usage: { prompt_tokens: 7, completion_tokens: predicted_n, prompt_tokens_details: { cached_tokens: 3 } },
  timings: { cache_n: 3, prompt_n: 4, prompt_ms: 9, predicted_n, predicted_ms },
})

test('choices that are told of one by one add up; the prompt that they share counts once', () => {
  const both = addChoices([figuresOf(timed(12, 220)), figuresOf(timed(11, 300))])
  const { inputTokens, cachedInputTokens, outputTokens, totalTokens } = both
  assert.deepEqual([inputTokens, cachedInputTokens, outputTokens, totalTokens], [7, 3, 23, 30])
  assert.deepEqual([both.upstreamPromptMs, both.upstreamDecodeMs, both.tpotMs], [9, 300, 25])
  const others = figuresOf({ timings: { cache_n: 0, prompt_n: 5, predicted_n: 2 } })
  const prompts = addChoices([figuresOf(timed(12, 220)), others])
  assert.deepEqual([prompts.inputTokens, prompts.outputTokens, prompts.totalTokens], [12, 14, 26])
  assert.equal(usageIn(addChoices([figuresOf(timed(12, 220)), noFigures])), null)
})

test('a body of several choices with the counts of the first alone has no known usage', () => {
  assert.equal(figuresOf(timed(12, 220), { bodyChoices: 1 }).outputTokens, 12)
  const ofTwo = figuresOf(timed(12, 220), { bodyChoices: 2 })
  assert.deepEqual([usageIn(ofTwo), ofTwo.upstreamPromptMs], [null, 9])
  const pieces = { ...timed(12, 220), usage: { prompt_tokens: 7, completion_tokens: 24 } }
  assert.equal(figuresOf(pieces, { bodyChoices: 2 }).outputTokens, 24)
})

test('the time per token after the first, where the upstream tells how long it decoded', () => {
  const groq = { prompt_tokens: 9, completion_tokens: 5, completion_time: 0.02 }
  assert.equal(figuresOf({ usage: groq }).tpotMs, 5)
  assert.equal(figuresOf({ usage: { ...groq, completion_tokens: 1 } }).tpotMs, null)
  assert.equal(figuresOf({ timings: { predicted_n: 11, predicted_ms: 250 } }).tpotMs, 25)
  assert.equal(figuresOf({ timings: { predicted_n: 11, predicted_ms: null } }).tpotMs, null)
})

test('the service tier within the usage', () => {
  assert.equal(figuresOf({ usage: { service_tier: 'priority' } }).serviceTier, 'priority')
  assert.equal(figuresOf({ usage: { service_tier: 7 } }).serviceTier, null)
  const ofOpus = { service_tier: 'standard', speed: 'fast' }
  assert.equal(figuresOf({ usage: ofOpus }).serviceTier, 'fast')
  assert.equal(figuresOf({ usage: { ...ofOpus, speed: 'standard' } }).serviceTier, 'standard')
  assert.equal(figuresOf({ startUsage: ofOpus, usage: { output_tokens: 3 } }).serviceTier, 'fast')
})

const costs: readonly [usage: object, costNanoUsd: number | null][] = [
  [{ cost: 0.0000123 }, 12_300],
  [{ cost: 0 }, 0],
  [{ cost: 0.001, is_byok: true, cost_details: { upstream_inference_cost: 0.02 } }, 21_000_000],
  [{ cost: 0.001, is_byok: false, cost_details: { upstream_inference_cost: 0.02 } }, 1_000_000],
  [{ cost_in_usd_ticks: 37_756_000 }, 3_775_600],
  [{ cost: '1' }, 1e9],
  [{ cost: '1 USD' }, null],
  [{ cost: { total_cost: 0.5 } }, 5e8],
  [{ cost: -1 }, null],
  [{}, null],
]

for (const [usage, costNanoUsd] of costs) {
  test(`the cost of ${JSON.stringify(usage)}`, () => {
    assert.equal(figuresOf({ usage }).costNanoUsd, costNanoUsd)
  })
}

const counts = { prompt_tokens: 10, completion_tokens: 5 }
const reasoned = { completion_tokens_details: { reasoning_tokens: 3 } }
const gaps: readonly [what: string, usage: object, tokensAsked: number, output: number | null][] = [
  ['no more than was asked for', { ...counts, total_tokens: 1_000_000 }, 100, 100],
  ['no more than any answer has', { ...counts, total_tokens: 1_000_000 }, 0, 5],
  ['the reasoning of Gemini, which no part tells', { ...counts, total_tokens: 60 }, 0, 50],
  ['nothing where the reasoning is told and smaller', { ...counts, ...reasoned, total_tokens: 60 }, 0, 5],
  ['an output that is not told', { prompt_tokens: 10, total_tokens: 60 }, 0, 50],
  ['an output that is not told, and too large', { prompt_tokens: 10, total_tokens: 1_000_000 }, 0, null],
  ['the completion, even if less was asked for', { ...counts, total_tokens: 60 }, 2, 5],
]

for (const [what, usage, tokensAsked, output] of gaps) {
  test(`a gap between a total and its parts counts as ${what}`, () => {
    assert.equal(figuresOf({ usage }, { tokensAsked }).outputTokens, output)
  })
}

test('of a batch of prompts at llama.cpp, the time of the first is not that of all', () => {
  const usage = { prompt_tokens: 50, completion_tokens: 20, total_tokens: 70 }
  const timings = { cache_n: 0, prompt_n: 10, prompt_ms: 5, predicted_n: 9, predicted_ms: 90 }
  const { inputTokens, upstreamPromptMs } = figuresOf({ usage, timings }, { bodyChoices: 2 })
  assert.deepEqual([inputTokens, upstreamPromptMs], [50, null])
})
