import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { ChatMessage } from './read-messages.ts'
import { lastMessageOf, readRequest } from './read-request.ts'

/** Returns a message as a line: `User: text|call get(…)`. */
function lineOf({ speaker, note, parts }: ChatMessage): string {
  const words = parts.map((part) => {
    if (part.kind === 'text') return part.text
    if (part.kind === 'call') return `call ${part.name} ${part.id} ${part.text}`
    if (part.kind === 'result') return `${part.isError ? 'failed' : 'result'} ${part.id} ${part.text}`
    return `${part.kind} ${part.text}`
  })
  return `${speaker}${note === null ? '' : ` (${note})`}: ${words.join(' | ')}`
}

function read(body: unknown): readonly string[] {
  return readRequest(body).messages.map(lineOf)
}

const pixel = 'data:image/png;base64,iVBORw0KGgo='

test('a chat, with parts, tool calls and what the tools said', () => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      name: 'ann',
      content: [
        { type: 'text', text: 'Look' },
        { type: 'image_url', image_url: { url: pixel } },
        { type: 'image_url', image_url: { url: 'https://a.example/b.png' } },
        { type: 'input_audio', input_audio: { format: 'wav', data: 'AAAA' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      reasoning_content: 'hm',
      tool_calls: [{ id: 'c1', function: { name: 'get', arguments: '{"a":1}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: '42' },
    { role: 'assistant', content: '', refusal: 'No.' },
  ]
  assert.deepEqual(read({ messages }), [
    'System: Be brief.',
    'User (ann): Look | media Image (png), 8 B | media Image at https://a.example/b.png | media Sound (wav), 3 B',
    'Assistant: reasoning hm | call get c1 {"a":1}',
    'Tool: result c1 42',
    'Assistant: refusal No.',
  ])
})

test("Anthropic's messages", () => {
  const gone = [{ type: 'text', text: 'gone' }]
  const failed = { type: 'tool_result', tool_use_id: 't1', content: gone, is_error: true }
  const body = {
    system: [{ type: 'text', text: 'Be brief.' }],
    messages: [
      { role: 'user', content: 'Read it' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm' },
          { type: 'tool_use', id: 't1', name: 'read', input: { path: 'a' } },
        ],
      },
      { role: 'user', content: [failed] },
    ],
  }
  assert.deepEqual(read(body), [
    'System: Be brief.',
    'User: Read it',
    'Assistant: reasoning hm | call read t1 {"path":"a"}',
    'User: failed t1 gone',
  ])
})

test("OpenAI's Responses", () => {
  const body = {
    instructions: 'Be brief.',
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'Now?' }] },
      { type: 'function_call', call_id: 'f1', name: 'now', arguments: '{}' },
      { type: 'function_call_output', call_id: 'f1', output: '10:30' },
      { type: 'item_reference', id: 'x' },
    ],
  }
  assert.deepEqual(read(body), [
    'System: Be brief.',
    'User: Now?',
    'Assistant: call now f1 {}',
    'Tool: result f1 10:30',
    'item_reference: json {"type":"item_reference","id":"x"}',
  ])
  assert.deepEqual(read({ input: 'Hello' }), ['Input: Hello'])
})

test('prompts, texts to embed, and documents to rank', () => {
  assert.deepEqual(read({ prompt: 'Once' }), ['Prompt: Once'])
  assert.deepEqual(read({ input: ['a', 'b'] }), ['Input 1: a', 'Input 2: b'])
  assert.deepEqual(read({ input: [1, 2, 3] }), ['Input: json 3 tokens, by their numbers'])
  const ranked = read({ query: 'q', documents: ['a', { text: 'b' }] })
  assert.equal(ranked.join('; '), 'Query: q; Document 1: a; Document 2: b')
})

test('settings and tools are told', () => {
  const { settings, tools } = readRequest({
    messages: [],
    temperature: 0,
    stop: ['a'],
    seed: null,
    reasoning: { effort: 'low' },
    tools: [{ type: 'function', function: { name: 'get' } }, { name: 'read' }, { type: 'web_search' }],
  })
  assert.deepEqual(Object.fromEntries(settings), {
    temperature: '0',
    stop: '["a"]',
    'reasoning effort': 'low',
  })
  assert.deepEqual(tools, ['get', 'read', 'web_search'])
})

test('the last message alone is read for a row of a list', () => {
  const last = lastMessageOf({ system: 'x', messages: [null, { role: 'user', content: 'new' }] })
  assert.equal(last === null ? '' : lineOf(last), 'User: new')
  assert.equal(lastMessageOf('text'), null)
})

test('no body is too odd', () => {
  fc.assert(
    fc.property(
      fc.jsonValue(),
      fc.constantFrom('messages', 'input', 'prompt', 'query', 'tools', 'system'),
      (value, name) => {
        for (const body of [
          value,
          { [name]: value },
          { messages: [{ role: 'user', content: value }, value] },
        ]) {
          for (const { speaker, parts } of readRequest(body).messages) {
            assert.equal(typeof speaker, 'string')
            for (const part of parts) assert.equal(typeof part.text, 'string')
          }
          lastMessageOf(body)
        }
      },
    ),
  )
})
