import assert from 'node:assert/strict'
import { test } from 'node:test'
import { meterFormNow } from './meter-form.ts'
import { done, event, streamForm } from './wire-form.ts'

const count = 500

function chat(delta: object, more: object = {}, choice: object = {}): object {
  return {
    id: 'chatcmpl-W',
    object: 'chat.completion.chunk',
    created: 1790000000,
    model: 'org\\/weir "2"',
    choices: [{ index: 0, delta, finish_reason: null, ...choice }],
    ...more,
  }
}

function counts(i: number): object {
  return { prompt_tokens: 9, completion_tokens: i, total_tokens: 9 + i, num_sources_used: 0 }
}

const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
const said = 'a "word",\n\u{1F30A} \\ '
const filters = { hate: { filtered: false, severity: 'safe' } }
const pace = { cache_n: 4, prompt_n: 5, prompt_ms: 1.5, predicted_ms: 8.25 }

/** The event with this number of a long stream, and the path on which it comes, by upstream. */
const shapes: Readonly<Record<string, readonly [event: (i: number) => object, path?: string]>> = {
  OpenAI: [() => chat({ content: said }, { usage: null, service_tier: 'default', obfuscation: 'x9' })],
  'OpenAI with logprobs': [
    () => chat({ content: said }, {}, { logprobs: { content: [{ token: '"', bytes: [34], logprob: -1 }] } }),
  ],
  'vLLM, usage as it goes': [(i) => chat({ content: said, reasoning: null }, { usage: counts(i) })],
  'vLLM, reasoning': [() => chat({ reasoning: said })],
  Mistral: [() => chat({ content: said }, { p: 'abc' })],
  'Mistral, content in parts': [
    (i) =>
      chat({
        content: [
          i < 400
            ? { type: 'thinking', thinking: [{ type: 'text', text: said }] }
            : { type: 'text', text: said },
        ],
      }),
  ],
  OpenRouter: [
    () => chat({ role: 'assistant', content: said }, { provider: 'Sluice', native_finish_reason: null }),
  ],
  DeepSeek: [(i) => chat(i < 300 ? { content: null, reasoning_content: said } : { content: said })],
  Groq: [() => chat({ content: said }, { x_groq: { id: 'req_w' } })],
  'xAI, usage as it goes': [
    (i) => chat({ content: said }, { usage: { ...counts(i), cost_in_usd_ticks: i } }),
  ],
  'Gemini, usage as it goes': [(i) => chat({ role: 'assistant', content: said }, { usage: counts(i) })],
  Azure: [() => chat({ content: said }, {}, { content_filter_results: filters, content_filter_offsets: {} })],
  TGI: [() => chat({ role: 'assistant', content: said, tool_calls: null }, { usage: null })],
  Ollama: [() => chat({ role: 'assistant', content: said }, { system_fingerprint: 'fp_ollama' })],
  'llama.cpp, timings as it goes': [(i) => chat({ content: said }, { timings: { ...pace, predicted_n: i } })],
  'tool calls': [() => chat({ tool_calls: [{ index: 0, function: { arguments: '{"a":"\\n' } }] })],
  'several choices': [(i) => chat({ content: said }, {}, { index: i % 4 })],
  Responses: [
    (i) => ({
      type: 'response.output_text.delta',
      sequence_number: i,
      item_id: 'm',
      delta: said,
      logprobs: [],
    }),
    '/v1/responses',
  ],
  Messages: [
    () => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: said } }),
    '/v1/messages',
  ],
  'legacy completions': [
    () => ({ choices: [{ text: said, index: 0, finish_reason: null }] }),
    '/v1/completions',
  ],
  'legacy completions of Ollama': [
    () => ({ choices: [{ text: said, index: 0, finish_reason: null }], usage: zeros }),
    '/v1/completions',
  ],
}

for (const [name, [eventAt, path = '/v1/chat/completions']] of Object.entries(shapes)) {
  test(`${name}: of ${count} events under 5 % are parsed as JSON`, () => {
    const events = Array.from({ length: count }, (_, i) => eventAt(i + 1))
    const last = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: counts(count) }
    const form = streamForm(name, [...events, last, done], { path })
    const pieces = form.body
      .toString()
      .split(/(?<=\n\n)/)
      .map((piece) => Buffer.from(piece))
    const { parses, result } = countingParses(() => meterFormNow(form, pieces))
    assert.equal(result.reading.totalEvents, count + 2)
    assert.equal(result.columns.chunks, count)
    assert.equal(result.columns.output_tokens, count)
    assert.ok(parses > 0 && parses < 0.05 * count, `${parses} calls of JSON.parse`)
    assert.ok(
      result.reading.parsedEvents < 0.05 * count,
      `${result.reading.parsedEvents} by the meter's count`,
    )
  })
}

test('the counter sees a parse', () => {
  assert.deepEqual(
    countingParses(() => JSON.parse(event('1').slice(6)) as unknown),
    { parses: 1, result: 1 },
  )
})

/** Counts what really happens, whatever the meter says of itself. */
function countingParses<T>(work: () => T): { readonly parses: number; readonly result: T } {
  const parse = JSON.parse
  let parses = 0
  JSON.parse = (...args: Parameters<typeof parse>): unknown => {
    parses++
    return parse(...args)
  }
  try {
    return { result: work(), parses }
  } finally {
    JSON.parse = parse
  }
}
