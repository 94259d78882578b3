import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blankRecord } from '../../call/call-record.ts'
import type { CallType } from '../../call/call.ts'
import { CallMeter } from './call-meter.ts'

interface Read {
  readonly toolCalls: number | null
  readonly tools: string | null
}

interface Answer {
  readonly type: string
  readonly callType: CallType
  readonly status: number
  readonly pieces: number
}

function read(
  text: string,
  { type = 'text/event-stream', callType = 'chat', status = 200, pieces = 1 }: Partial<Answer> = {},
): Read {
  const meter = new CallMeter({ callType, method: 'POST' }, true, 0, assert.ifError)
  meter.responseStart({ status, statusText: '', contentLength: null, headers: ['Content-Type', type] })
  const bytes = Buffer.from(text)
  const size = Math.ceil(bytes.length / pieces)
  for (let at = 0; at < bytes.length; at += size) meter.data(bytes.subarray(at, at + size), 1)
  meter.end(true)
  const record = blankRecord()
  meter.complete(record)
  return { toolCalls: record.toolCalls, tools: record.tools }
}

function stream(...events: readonly object[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
}

/** An event of a chat in which one choice tells of calls. */
const choice = (index: number, ...tool_calls: readonly object[]): object => ({
  choices: [{ index, delta: { tool_calls } }],
})
const chat = (...calls: readonly object[]): object => choice(0, ...calls)

const named = (index: number, name: string | null, id?: string): object => ({
  index,
  ...(id !== undefined && { id }),
  type: 'function',
  function: { name, arguments: '' },
})
const argument = (index: number, id?: string): object => ({
  index,
  ...(id !== undefined && { id }),
  function: { arguments: '{"name":"not_a_tool"}' },
})
const former = (function_call: object): object => ({ choices: [{ index: 0, delta: { function_call } }] })
const last = (...output: readonly object[]): object => ({ type: 'response.completed', response: { output } })
const item = (moment: 'added' | 'done', type: string, name?: string): object => ({
  type: `response.output_item.${moment}`,
  item: { type, ...(name !== undefined && { name }), arguments: moment === 'done' ? '{}' : '' },
})
const block = (index: number, content_block: object): object => ({
  type: 'content_block_start',
  index,
  content_block,
})

const streams: readonly [what: string, events: readonly object[], count: number, tools: string | null][] = [
  ['no call', [{ choices: [{ index: 0, delta: { content: '{"name":"x"}' } }] }], 0, null],
  ['one call, its arguments in pieces', [chat(named(0, 'read', 'a')), chat(argument(0))], 1, 'read'],
  ['two calls in one event', [chat(named(0, 'read', 'a'), named(1, 'read', 'b'))], 2, 'read'],
  ['two calls one after the other', [chat(named(0, 'read')), chat(named(1, 'write'))], 2, 'read,write'],
  ['two calls that both have index 0', [chat(named(0, 'a', '1')), chat(named(0, 'b', '2'))], 2, 'a,b'],
  [
    'two calls of one event that have no index',
    [chat({ function: { name: 'a' } }, { function: { name: 'b' } })],
    2,
    'a,b',
  ],
  ['a name in pieces', [chat(named(0, 'edit_ex', 'a')), chat(named(0, 'isting', 'a'))], 1, 'edit_existing'],
  ['a name with every piece', ['run', 'run', 'run'].map((name) => chat(named(0, name))), 1, 'run'],
  ['an empty name with every further piece', [chat(named(0, 'run', 'a')), chat(named(0, '', 'a'))], 1, 'run'],
  ['null as the name of further pieces', [chat(named(0, 'run', 'a')), chat(named(0, null))], 1, 'run'],
  ['another id with every piece', [chat(named(0, 'run', 'a')), chat(argument(0, 'b'))], 1, 'run'],
  ['an empty id', [chat(named(0, 'run', '')), chat(named(1, 'run', ''))], 2, 'run'],
  ['two choices', [chat(named(0, 'a', '1')), choice(1, named(0, 'a', '2'))], 2, 'a'],
  [
    'a choice whose index stands last',
    [chat(named(0, 'a')), { choices: [{ delta: { tool_calls: [named(0, 'b')] }, index: 1 }] }],
    2,
    'a,b',
  ],
  ['a custom tool', [chat({ index: 0, type: 'custom', custom: { name: 'note', input: '' } })], 1, 'note'],
  ['the form before', [former({ name: 'f', arguments: '' }), former({ arguments: '{}' })], 1, 'f'],
  [
    'Responses, told at begin and end, and once more with the whole',
    [
      { type: 'response.created', response: { output: [] } },
      item('added', 'reasoning'),
      item('added', 'function_call', 'shell'),
      item('done', 'function_call', 'shell'),
      item('added', 'web_search_call'),
      item('done', 'custom_tool_call', 'apply_patch'),
      item('done', 'web_search_call'),
      last({ type: 'message' }, { type: 'function_call', name: 'shell' }),
    ],
    3,
    'shell,apply_patch,web_search',
  ],
  ['Responses, of which only the last event tells', [last({ type: 'function_call', name: 'a' })], 1, 'a'],
  ['Responses, cut in the middle', [item('added', 'function_call', 'a')], 1, 'a'],
  [
    'Messages',
    [
      block(0, { type: 'text', text: '' }),
      block(1, { type: 'tool_use', id: 't', name: 'Bash', input: {} }),
      {
        type: 'content_block_delta',
        index: 1,
        delta: { type: 'input_json_delta', partial_json: '{"name":' },
      },
      block(2, { type: 'server_tool_use', id: 's', name: 'web_search' }),
    ],
    2,
    'Bash,web_search',
  ],
]

for (const [what, events, toolCalls, tools] of streams) {
  test(`a stream with ${what}: ${toolCalls} calls`, () => {
    const text = stream(...events)
    for (const pieces of [1, 7, text.length]) assert.deepEqual(read(text, { pieces }), { toolCalls, tools })
  })
}

const message = (message: object): object => ({
  choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
})
const shell = { type: 'function_call', name: 'a' }
const used = { type: 'tool_use', name: 'Read', input: { name: 'y' } }
const bodies: readonly [what: string, body: object, count: number, tools: string | null][] = [
  ['no call', message({ content: '"tool_calls"', tool_calls: null }), 0, null],
  ['two calls', message({ tool_calls: [named(0, 'a', '1'), named(0, 'b', '2')] }), 2, 'a,b'],
  ['the same tool twice', message({ tool_calls: [named(0, 'a'), named(0, 'a')] }), 2, 'a'],
  ['the form before', message({ function_call: { name: 'f', arguments: '{}' } }), 1, 'f'],
  ['a custom tool', message({ tool_calls: [{ type: 'custom', custom: { name: 'note' } }] }), 1, 'note'],
  [
    'Responses',
    { object: 'response', output: [shell, { type: 'message', name: 'b' }, { type: 'local_shell_call' }] },
    2,
    'a,local_shell',
  ],
  ['Messages', { type: 'message', content: [{ type: 'text', text: 'x' }, used] }, 1, 'Read'],
  [
    'what is no list of calls',
    { choices: [{ message: { tool_calls: { name: 'a' } } }], output: 'x', content: { name: 'b' } },
    0,
    null,
  ],
  [
    'names that are no text',
    message({ tool_calls: [{ function: { name: 7 } }, { function: { name: ['a'] } }, 'x', null] }),
    0,
    null,
  ],
]

for (const [what, body, toolCalls, tools] of bodies) {
  test(`a body with ${what}: ${toolCalls} calls`, () => {
    const text = JSON.stringify(body)
    for (const pieces of [1, 7, text.length]) {
      assert.deepEqual(read(text, { type: 'application/json', pieces }), { toolCalls, tools })
    }
  })
}

test('names are cut and cleaned, and five at most are kept', () => {
  const names = ['x'.repeat(301), 'a,b\u0000c', 'c', 'd', 'e', 'f', 'g']
  const { toolCalls, tools } = read(stream(chat(...names.map((name, index) => named(index, name)))))
  assert.equal(toolCalls, 7)
  assert.equal(tools, `${'x'.repeat(300)},a b c,c,d,e`)
})

test('a name that never ends, and calls that never end, take no more than their bound', () => {
  const endless = Array.from({ length: 500 }, (_, index) => chat(named(0, `piece${index}`, 'a')))
  assert.equal(read(stream(...endless)).tools?.length, 300)
  const many = Array.from({ length: 3000 }, (_, index) => chat(named(index, 'a')))
  assert.deepEqual(read(stream(...many)), { toolCalls: 1000, tools: 'a' })
  const items = { output: Array.from({ length: 3000 }, () => ({ type: 'function_call', name: 'a' })) }
  assert.equal(read(JSON.stringify(items), { type: 'application/json' }).toolCalls, 1000)
})

test('an event that is damaged tells of no call', () => {
  const complete = stream(chat(named(0, 'a')))
  assert.deepEqual(read(`${complete.replace('}\n', '\n')}${complete.replace('"a"', '"b"')}`), {
    toolCalls: 1,
    tools: 'b',
  })
})

test('what is no answer to a chat has no count', () => {
  const none = { toolCalls: null, tools: null }
  assert.deepEqual(read(stream(chat(named(0, 'a'))), { callType: 'embedding' }), none)
  assert.deepEqual(read(JSON.stringify(message({})), { type: 'application/json', status: 500 }), none)
  assert.deepEqual(read('bytes', { type: 'application/octet-stream' }), none)
})
