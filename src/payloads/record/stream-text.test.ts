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
      chat({ reasoning_content: 'a' }),
      chat({ reasoning: 'b' }),
      chat({ reasoning_content: 'c', reasoning: 'c' }),
      chat({ content: 'd' }),
    ],
    { text: 'd', reasoning: 'abc' },
  ],
  'tool calls side by side': [
    [
      chat({ tool_calls: [{ index: 0, id: 'call_1', function: { name: 'f', arguments: '' } }] }),
      chat({ tool_calls: [{ index: 1, id: 'call_2', function: { name: 'g', arguments: '{' } }] }),
      chat({
        tool_calls: [
          { index: 0, function: { arguments: '{"a":' } },
          { index: 1, function: { arguments: '}' } },
        ],
      }),
      chat({ tool_calls: [{ index: 0, function: { name: 'f', arguments: '1}' } }] }),
    ],
    { toolCalls: [call, { id: 'call_2', name: 'g', arguments: '{}' }] },
  ],
  'tool calls without an index': [
    [
      chat({ tool_calls: [{ id: 'call_1', function: { name: 'f', arguments: '{"a":' } }] }),
      chat({ tool_calls: [{ function: { arguments: '1}' } }] }),
      chat({ tool_calls: [{ id: 'call_2', function: { name: 'g', arguments: { b: 2 } } }] }),
    ],
    { toolCalls: [call, { id: 'call_2', name: 'g', arguments: '{"b":2}' }] },
  ],
  'custom tools and the older function call': [
    [
      chat({ tool_calls: [{ index: 0, id: 'c', custom: { name: 'sh', input: 'l' } }] }),
      chat({ tool_calls: [{ index: 0, custom: { input: 's' } }] }),
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
      { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', id: 'rs_1' } },
      { type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'think' },
      { type: 'response.reasoning_summary_part.added', output_index: 0 },
      { type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'more' },
      {
        type: 'response.output_item.added',
        output_index: 1,
        item: { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '' },
      },
      { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"a":' },
      { type: 'response.function_call_arguments.delta', output_index: 1, delta: '1}' },
      {
        type: 'response.output_item.done',
        output_index: 1,
        item: { type: 'function_call', arguments: '{"a":1}' },
      },
      { type: 'response.output_text.delta', output_index: 2, delta: 'Hel' },
      { type: 'response.output_text.delta', output_index: 2, delta: 'lo' },
      { type: 'response.output_text.done', output_index: 2, text: 'Hello' },
      { type: 'response.completed', response: { output: [] } },
    ],
    { text: 'Hello', reasoning: 'think\n\nmore', toolCalls: [call] },
  ],
  'arguments of the Responses API that came only whole': [
    [
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '' },
      },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { type: 'function_call', arguments: '{"a":1}' },
      },
    ],
    { toolCalls: [call] },
  ],
  'the Messages API': [
    [
      { type: 'message_start', message: { id: 'm', content: [] } },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'think' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'x' } },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hello' } },
      {
        type: 'content_block_start',
        index: 2,
        content_block: { type: 'tool_use', id: 'call_1', name: 'f', input: {} },
      },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"a":' } },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '1}' } },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      { type: 'message_stop' },
    ],
    { text: 'Hello', reasoning: 'think', toolCalls: [call] },
  ],
  "Ollama's own forms": [
    [
      { message: { role: 'assistant', content: 'Hel', thinking: 'hm' }, done: false },
      {
        message: { content: 'lo', tool_calls: [{ function: { name: 'f', arguments: { a: 1 } } }] },
        done: false,
      },
      { response: '!', done: false },
      { done: true },
    ],
    { text: 'Hello!', reasoning: 'hm', toolCalls: [{ ...call, id: null }] },
  ],
  "Gemini's own form": [
    [
      { candidates: [{ content: { parts: [{ text: 'hm', thought: true }, { text: 'Hel' }] } }] },
      {
        candidates: [
          { content: { parts: [{ text: 'lo' }, { functionCall: { name: 'f', args: { a: 1 } } }] } },
        ],
      },
    ],
    { text: 'Hello', reasoning: 'hm', toolCalls: [{ ...call, id: null }] },
  ],
  "llama.cpp's own completion": [
    [
      { content: 'Hel', stop: false },
      { content: 'lo', stop: true },
    ],
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
  const key = fc.constantFrom(
    'choices',
    'delta',
    'index',
    'type',
    'tool_calls',
    'function',
    'content',
    'message',
    'item',
    'output_index',
    '__proto__',
  )
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
