import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { readStreamText } from './stream-text.ts'
import { draws } from '../../../test/support/draws.ts'

type Event = Readonly<Record<string, unknown>>

function chat(delta: Event, index = 0): Event {
  return { object: 'chat.completion.chunk', choices: [{ index, delta, finish_reason: null }] }
}

function shown(events: readonly Event[]): { text: unknown; reasoning: unknown; toolCalls: unknown } {
  const { text, reasoning, toolCalls } = readStreamText(events)
  return { text, reasoning, toolCalls }
}

const nothing = { text: null, reasoning: null, toolCalls: [] }
const call = { id: 'call_1', name: 'f', arguments: '{"a":1}' }

const gemini = (...parts: readonly object[]): Event => ({ candidates: [{ content: { parts } }] })
const fn = (name: string, text: unknown = ''): object => ({ function: { name, arguments: text } })
const more = (text: string): object => ({ function: { arguments: text } })
const tools = (...tool_calls: readonly object[]): Event => chat({ tool_calls })
const response = (kind: string, output_index: number, rest: object = {}): Event => ({
  type: `response.${kind}`,
  output_index,
  ...rest,
})
const block = (index: number, content_block: object): Event => ({
  type: 'content_block_start',
  index,
  content_block,
})
const delta = (index: number, type: string, of: object): Event => ({
  type: 'content_block_delta',
  index,
  delta: { type, ...of },
})
const functionCall = { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '' }
const done = { item: { type: 'function_call', arguments: '{"a":1}' } }
const secondCall = (text: string): object => ({ id: 'call_2', name: 'g', arguments: text })

const streams: Readonly<Record<string, readonly [events: readonly Event[], said: object]>> = {
  'chat text': [
    [
      chat({ role: 'assistant', content: '' }),
      chat({ content: 'Hel' }),
      chat({ content: 'lo' }),
      { choices: [] },
    ],
    { text: 'Hello' },
  ],
  'reasoning under its names': [
    [
      ...[{ reasoning_content: 'a' }, { reasoning: 'b' }].map((each) => chat(each)),
      chat({ reasoning_content: 'c', reasoning: 'c' }),
      chat({ content: 'd' }),
    ],
    { text: 'd', reasoning: 'abc' },
  ],
  'tool calls side by side': [
    [
      tools({ index: 0, id: 'call_1', ...fn('f') }),
      tools({ index: 1, id: 'call_2', ...fn('g', '{') }),
      tools({ index: 0, ...more('{"a":') }, { index: 1, ...more('}') }),
      tools({ index: 0, ...fn('f', '1}') }),
    ],
    { toolCalls: [call, secondCall('{}')] },
  ],
  'tool calls without an index': [
    [
      tools({ id: 'call_1', ...fn('f', '{"a":') }),
      tools(more('1}')),
      tools({ id: 'call_2', ...fn('g', { b: 2 }) }),
    ],
    { toolCalls: [call, secondCall('{"b":2}')] },
  ],
  'custom tools and the older function call': [
    [
      tools({ index: 0, id: 'c', custom: { name: 'sh', input: 'l' } }),
      tools({ index: 0, custom: { input: 's' } }),
      chat({ function_call: { name: 'f', arguments: '{' } }),
      chat({ function_call: { arguments: '}' } }),
    ],
    {
      toolCalls: [
        { id: 'c', name: 'sh', arguments: 'ls' },
        { id: null, name: 'f', arguments: '{}' },
      ],
    },
  ],
  'refusals, transcripts, and content in parts': [
    [
      chat({ refusal: 'No' }),
      chat({ audio: { transcript: ' way' } }),
      chat({
        content: [
          { type: 'thinking', thinking: [{ text: 'hm' }] },
          { type: 'text', text: '.' },
        ],
      }),
    ],
    { text: 'No way.', reasoning: 'hm' },
  ],
  'of several choices the first': [
    [chat({ content: 'b' }, 1), chat({ content: 'a' }, 0), chat({ content: 'B' }, 1)],
    { text: 'a' },
  ],
  'legacy completions': [
    [{ choices: [{ index: 0, text: 'Hel' }] }, { choices: [{ index: 0, text: 'lo' }] }],
    { text: 'Hello' },
  ],
  'a message that came whole': [[{ choices: [{ index: 0, message: { content: 'all' } }] }], { text: 'all' }],
  'the Responses API': [
    [
      { type: 'response.created', response: { id: 'r' } },
      response('output_item.added', 0, { item: { type: 'reasoning', id: 'rs_1' } }),
      response('reasoning_summary_text.delta', 0, { delta: 'think' }),
      response('reasoning_summary_part.added', 0),
      response('reasoning_summary_text.delta', 0, { delta: 'more' }),
      response('output_item.added', 1, { item: { ...functionCall, id: 'fc_1' } }),
      response('function_call_arguments.delta', 1, { delta: '{"a":' }),
      response('function_call_arguments.delta', 1, { delta: '1}' }),
      response('output_item.done', 1, done),
      response('output_text.delta', 2, { delta: 'Hel' }),
      response('output_text.delta', 2, { delta: 'lo' }),
      response('output_text.done', 2, { text: 'Hello' }),
      { type: 'response.completed', response: { output: [] } },
    ],
    { text: 'Hello', reasoning: 'think\n\nmore', toolCalls: [call] },
  ],
  'arguments of the Responses API that came only whole': [
    [response('output_item.added', 0, { item: functionCall }), response('output_item.done', 0, done)],
    { toolCalls: [call] },
  ],
  'the Messages API': [
    [
      { type: 'message_start', message: { id: 'm', content: [] } },
      block(0, { type: 'thinking', thinking: '' }),
      delta(0, 'thinking_delta', { thinking: 'think' }),
      delta(0, 'signature_delta', { signature: 'x' }),
      block(1, { type: 'text', text: '' }),
      delta(1, 'text_delta', { text: 'Hello' }),
      block(2, { type: 'tool_use', id: 'call_1', name: 'f', input: {} }),
      delta(2, 'input_json_delta', { partial_json: '{"a":' }),
      delta(2, 'input_json_delta', { partial_json: '1}' }),
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      { type: 'message_stop' },
    ],
    { text: 'Hello', reasoning: 'think', toolCalls: [call] },
  ],
  "Ollama's own forms": [
    [
      { message: { role: 'assistant', content: 'Hel', thinking: 'hm' }, done: false },
      { message: { content: 'lo', tool_calls: [fn('f', { a: 1 })] }, done: false },
      { response: '!', done: false },
      { done: true },
    ],
    { text: 'Hello!', reasoning: 'hm', toolCalls: [{ ...call, id: null }] },
  ],
  "Gemini's own form": [
    [
      gemini({ text: 'hm', thought: true }, { text: 'Hel' }),
      gemini({ text: 'lo' }, { functionCall: { name: 'f', args: { a: 1 } } }),
    ],
    { text: 'Hello', reasoning: 'hm', toolCalls: [{ ...call, id: null }] },
  ],
  "llama.cpp's own completion": [
    ['Hel', 'lo'].map((content) => ({ content, stop: content === 'lo' })),
    { text: 'Hello' },
  ],
  errors: [[{ error: { message: 'overloaded' } }, { type: 'error', error: { message: 'x' } }], {}],
}

for (const [what, [events, expected]] of Object.entries(streams)) {
  test(`put together: ${what}`, () => {
    assert.deepEqual(shown(events), { ...nothing, ...expected })
  })
}

test('texts of all choices are told, so that they can be searched', () => {
  const { all } = readStreamText([
    chat({ content: 'a' }),
    chat({ content: 'b' }, 1),
    chat({ content: 'B' }, 1),
  ])
  assert.ok(all.includes('a') && all.includes('bB'))
})

test('nothing that an event may hold throws', () => {
  const names = 'choices delta index type tool_calls function content message item output_index __proto__'
  const key = fc.constantFrom(...names.split(' '))
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(null, 0, '', 'response.output_item.added', 'content_block_delta', true),
      tie('list'),
      tie('object'),
    ),
    list: fc.array(tie('any'), { maxLength: 3, size: 'max' }),
    object: fc.dictionary(key, tie('any'), { maxKeys: 4 }),
  })).object
  fc.assert(
    fc.property(fc.array(value, { maxLength: 5, size: 'max' }), (events) => {
      readStreamText(events)
    }),
    { numRuns: draws(500) },
  )
})
