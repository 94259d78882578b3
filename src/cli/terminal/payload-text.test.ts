import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OutgoingRecord } from '../../api/raw-log.ts'
import { bodyText } from './payload-text.ts'

const answer: OutgoingRecord = {
  id: '0tk3v9x2ab4',
  seq: 1,
  timestamp: '2026-11-21T14:03:22.500Z',
  direction: 'outgoing',
  method: 'POST',
  path: '/v1/chat/completions',
  status: 200,
  headers: {},
  body: null,
  body_bytes: 5000,
  truncated: false,
  model: 'm',
  stream: false,
  outcome: 'ok',
  failure_code: null,
  duration_ms: 1,
}

/** Lines as they stand, remarks of ours in brackets. */
function shown(changes: Partial<OutgoingRecord>, full = false): readonly string[] {
  return bodyText({ ...answer, ...changes }, full).map(({ text, isRemark }) =>
    isRemark ? `[${text}]` : text,
  )
}

test('JSON is told over several lines', () => {
  assert.deepEqual(shown({ body: { a: [1, { b: 'c' }] } }), [
    '{',
    '  "a": [',
    '    1,',
    '    {',
    '      "b": "c"',
    '    }',
    '  ]',
    '}',
  ])
})

test('of a stream is told what was put together from it', () => {
  const toolCalls = [
    { id: 'call_1', name: 'search', arguments: '{"q":"weir"}' },
    { id: null, name: null, arguments: '{"q":' },
  ]
  const whole = { text: 'A weir\r\nis', reasoning: 'Hm.', tool_calls: toolCalls, body: 'data: {}\n\n' }
  assert.deepEqual(shown(whole), [
    '[reasoning]',
    'Hm.',
    '[tool call search]',
    '{',
    '  "q": "weir"',
    '}',
    '[tool call without a name]',
    '{"q":',
    '[text]',
    'A weir',
    'is',
  ])
  assert.deepEqual(shown({ ...whole, reasoning: null, tool_calls: [] }), ['A weir', 'is'])
  const nothing = { text: '', reasoning: null, tool_calls: [], body: 'data: [DONE]\n\n' }
  assert.deepEqual(shown(nothing), ['data: [DONE]', '', ''])
})

test('why there is nothing to show is told', () => {
  assert.deepEqual(shown({ body_bytes: 0 }), ['[no body]'])
  assert.deepEqual(shown({}), ['[not shown, 5 kB]'])
  assert.deepEqual(shown({ body_withheld: 'a key' }), ['[withheld: a key]'])
  assert.deepEqual(shown({ body: 'aGk=', body_encoding: 'base64' }), ['[binary, 5 kB]'])
  assert.deepEqual(shown({ body: 'begin', truncated: true }), [
    'begin',
    '[only the beginning was kept of 5 kB]',
  ])
})

test('what is long is cut, and says so; with --full nothing is', () => {
  const body = {
    messages: Array.from({ length: 100 }, (_, at) => ({ role: 'user', content: `message ${at}` })),
    prompt: 'x'.repeat(1600),
    numbers: Array.from({ length: 1000 }, () => 0.5),
  }
  const cut = shown({ body }).join('\n')
  for (const part of ['message 0', 'message 3', '… 92 more', 'message 96', 'message 99', '… 1,000 more"']) {
    assert.ok(cut.includes(part), part)
  }
  assert.ok(!cut.includes('message 4"') && !cut.includes('message 95'))
  assert.deepEqual(JSON.parse(shown({ body }, true).join('\n')), body)

  const text = `${'y'.repeat(1100)}\n${'z\n'.repeat(2000)}`
  const lines = shown({ text })
  assert.equal(lines.at(-1), '[… 1,101 more characters; --full shows all]')
  assert.equal(lines.at(-2), '[… 1,391 more lines; --full shows all]')
  assert.equal(lines[0], `${'y'.repeat(1000)}…`)
  assert.equal(shown({ text }, true).join('\n'), text)
})

test('a prototype is no member, and what is deep is no fault', () => {
  const hostile = JSON.parse('{"__proto__":{"x":1},"constructor":"y"}') as unknown
  assert.match(shown({ body: hostile }).join(' '), /__proto__.*"x": 1/)
  let deep: unknown = 'end'
  for (let depth = 0; depth < 20_000; depth += 1) deep = [deep]
  assert.deepEqual(shown({ body: deep }), ['[too deep to be shown, 5 kB]'])
})
