import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { OutgoingRecord, PayloadRecord } from '../api/raw-log.ts'
import { trainingExample } from './training-example.ts'

const record: PayloadRecord = {
  id: '0123456789a',
  seq: 1,
  timestamp: '2026-11-21T12:00:00.000Z',
  direction: 'incoming',
  method: 'POST',
  path: '/v1/chat/completions',
  status: null,
  headers: {},
  body: null,
  body_bytes: 100,
  truncated: false,
  model: 'm',
  stream: false,
}

function example(body: unknown, answer: Partial<OutgoingRecord>, request: Partial<PayloadRecord> = {}) {
  const ended = { outcome: 'ok', failure_code: null, duration_ms: 5, status: 200 }
  return trainingExample(
    { ...record, body, ...request },
    { ...record, ...ended, direction: 'outgoing', ...answer },
  )
}

const hello = { messages: [{ role: 'user', content: 'hello' }] }
const chat = (message: object): Partial<OutgoingRecord> => ({
  body: { choices: [{ index: 0, message, finish_reason: 'stop' }] },
})
const call = (id: string, name: string, args: string) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})

describe('a call as an example to learn from', () => {
  it('is the chat with its answer, tools and tool calls', () => {
    const tool = { type: 'function', function: { name: 'get', parameters: { type: 'object' } } }
    const body = {
      model: 'm',
      temperature: 0.2,
      tools: [tool],
      parallel_tool_calls: false,
      messages: [
        { role: 'developer', content: 'be short' },
        { role: 'user', content: [{ type: 'text', text: 'weather?' }] },
        { role: 'assistant', content: null, tool_calls: [call('c1', 'get', '{"a":1}')] },
        { role: 'tool', tool_call_id: 'c1', content: 'warm' },
      ],
    }
    assert.deepEqual(example(body, chat({ role: 'assistant', content: 'It is warm.', reasoning: 'hm' })), {
      messages: [
        { role: 'system', content: 'be short' },
        { role: 'user', content: 'weather?' },
        { role: 'assistant', content: null, tool_calls: [call('c1', 'get', '{"a":1}')] },
        { role: 'tool', content: 'warm', tool_call_id: 'c1' },
        { role: 'assistant', content: 'It is warm.' },
      ],
      tools: [tool],
      parallel_tool_calls: false,
    })
  })

  it('is put together from a stream, also if its body is withheld', () => {
    const put = { text: 'It is', reasoning: 'hm', tool_calls: [{ id: 'c2', name: 'get', arguments: '{}' }] }
    const messages = [
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: 'It is', tool_calls: [call('c2', 'get', '{}')] },
    ]
    assert.deepEqual(example(hello, { body: 'data: {}\n\n', ...put }), { messages })
    assert.deepEqual(example(hello, { body: null, body_withheld: 'a key', ...put }), { messages })
    assert.equal(example(hello, { body: null, body_withheld: 'a key' }), 'cut')
  })

  it('comes from the Messages API', () => {
    const body = {
      system: [{ type: 'text', text: 'be short' }],
      tools: [
        { name: 'get', description: 'gets', input_schema: { type: 'object' } },
        { type: 'web_search_1', name: 's' },
      ],
      messages: [
        { role: 'user', content: 'weather?' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm' },
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 't1', name: 'get', input: { a: 1 } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'warm' }] },
            { type: 'text', text: 'well?' },
          ],
        },
      ],
    }
    const answer = { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Warm.' }] }
    assert.deepEqual(example(body, { body: answer }), {
      messages: [
        { role: 'system', content: 'be short' },
        { role: 'user', content: 'weather?' },
        { role: 'assistant', content: 'I look.', tool_calls: [call('t1', 'get', '{"a":1}')] },
        { role: 'tool', content: 'warm', tool_call_id: 't1' },
        { role: 'user', content: 'well?' },
        { role: 'assistant', content: 'Warm.' },
      ],
      tools: [
        { type: 'function', function: { name: 'get', description: 'gets', parameters: { type: 'object' } } },
      ],
    })
  })

  it('comes from the Responses API, where each call of a tool is an item', () => {
    const body = {
      instructions: 'be short',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'weather?' }] },
        { type: 'reasoning', summary: [] },
        { type: 'function_call', call_id: 'f1', name: 'get', arguments: '{}' },
        { type: 'function_call', call_id: 'f2', name: 'get', arguments: '{"b":2}' },
        { type: 'function_call_output', call_id: 'f1', output: 'warm' },
        { type: 'function_call_output', call_id: 'f2', output: 'cold' },
      ],
    }
    const output = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Both.' }] }]
    assert.deepEqual(example(body, { body: { output } }), {
      messages: [
        { role: 'system', content: 'be short' },
        { role: 'user', content: 'weather?' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [call('f1', 'get', '{}'), call('f2', 'get', '{"b":2}')],
        },
        { role: 'tool', content: 'warm', tool_call_id: 'f1' },
        { role: 'tool', content: 'cold', tool_call_id: 'f2' },
        { role: 'assistant', content: 'Both.' },
      ],
    })
    const text = { instructions: 'be short', input: 'hello' }
    const told = example(text, { body: { output } })
    assert.deepEqual(typeof told === 'object' && told.messages.map(({ role }) => role), [
      'system',
      'user',
      'assistant',
    ])
    assert.equal(example({ ...text, previous_response_id: 'r1' }, { body: { output } }), 'earlier')
  })

  it('has the first of several answers, and ids for calls that have none', () => {
    const choices = ['one', 'two'].map((content, index) => ({ index, message: { content } }))
    const first = example(hello, { body: { choices } })
    assert.deepEqual(typeof first === 'object' && first.messages.at(-1), {
      role: 'assistant',
      content: 'one',
    })
    const former = {
      messages: [
        { role: 'user', content: 'weather?' },
        { role: 'assistant', content: null, function_call: { name: 'get', arguments: '{}' } },
        { role: 'function', name: 'get', content: 'warm' },
      ],
      functions: [{ name: 'get', parameters: {} }],
    }
    const told = example(former, chat({ content: 'Warm.' }))
    assert.deepEqual(typeof told === 'object' && told.messages.slice(1, 3), [
      { role: 'assistant', content: null, tool_calls: [call('call_1', 'get', '{}')] },
      { role: 'tool', content: 'warm', tool_call_id: 'call_1' },
    ])
  })

  it('is none, and why', () => {
    const answer = chat({ content: 'hi' })
    assert.equal(example(hello, { ...answer, outcome: 'upstream_error' }), 'failed')
    assert.equal(example(hello, { ...answer, truncated: true }), 'cut')
    assert.equal(example(hello, answer, { truncated: true }), 'cut')
    assert.equal(example(null, answer, { body_withheld: 'too large' }), 'cut')
    const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
    assert.equal(example({ messages: [{ role: 'user', content: [picture] }] }, answer), 'media')
    const shot = { type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', source: {} }] }
    assert.equal(example({ messages: [{ role: 'user', content: [shot] }] }, answer), 'media')
    const embeddings = { body: { object: 'list', data: [{ embedding: [0.1] }] } }
    for (const input of ['a', ['a', 'b']]) assert.equal(example({ input }, embeddings), 'no_conversation')
    assert.equal(example({ query: 'a', documents: ['b'] }, { body: { results: [] } }), 'no_conversation')
    assert.equal(example({ prompt: 'a' }, { body: { choices: [{ text: 'b' }] } }), 'no_conversation')
    assert.equal(example(hello, { body: 'odd' }), 'no_conversation')
    assert.equal(example('odd', { body: 'odd' }), 'no_conversation')
  })
})
