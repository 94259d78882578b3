import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { isReassembled, readAnswer } from './read-answer.ts'
import { readError } from './read-error.ts'
import { wordsOf } from './read-messages.ts'

function read(body: unknown): readonly string[] {
  return readAnswer({ body }).map(
    ({ speaker, note, parts }) => `${speaker}${note === null ? '' : ` (${note})`}: ${wordsOf(parts)}`,
  )
}

test('of a stream what was put together is told', () => {
  const record = {
    body: 'data: {}\n\n',
    text: 'It is warm.',
    reasoning: 'hm',
    tool_calls: [{ id: 'c1', name: 'get', arguments: '{"a":1}' }],
  }
  assert.equal(isReassembled(record), true)
  const parts = [
    { kind: 'reasoning', text: 'hm' },
    { kind: 'text', text: 'It is warm.' },
    { kind: 'call', name: 'get', id: 'c1', text: '{"a":1}' },
  ]
  assert.deepEqual(readAnswer(record), [{ speaker: 'Assistant', note: null, parts }])
  assert.equal(isReassembled({ body: 'data: {}\n\n', text: null, reasoning: null, tool_calls: [] }), false)
})

test('answers of every form', () => {
  const text = (type: string): object => ({
    type: 'message',
    role: 'assistant',
    content: [{ type, text: 'a' }],
  })
  const embeddings = [{ embedding: [1, 2] }, { embedding: [3, 4] }]
  const forms: readonly (readonly [body: object, lines: string])[] = [
    [
      { choices: [{ message: { content: 'a' }, finish_reason: 'length' }] },
      'Assistant (finish reason: length): a',
    ],
    [
      { choices: [{ message: { content: 'a' } }, { message: { content: 'b' } }] },
      'Assistant, choice 1: a; Assistant, choice 2: b',
    ],
    [{ choices: [{ text: 'a', finish_reason: 'stop' }] }, 'Assistant: a'],
    [text('text'), 'Assistant: a'],
    [{ output: [text('output_text')] }, 'Assistant: a'],
    [{ object: 'list', data: embeddings }, 'Response: 2 embeddings, each of 2 numbers'],
    [{ object: 'list', data: [{ id: 'm' }, { id: 'n' }] }, 'Response: m\nn'],
    [{ results: [{ index: 1, relevance_score: 0.5 }] }, 'Ranking: Document 2: 0.5'],
    [{ error: { message: 'no' } }, ''],
  ]
  for (const [body, lines] of forms) assert.equal(read(body).join('; '), lines)
})

test('the error of an answer is found, in a body and in a stream', () => {
  const error = readError({ error: { message: 'slow down', type: 'tokens', code: 'rate', param: null } })
  assert.equal(error?.message, 'slow down')
  assert.deepEqual(Object.fromEntries(error.facts), { type: 'tokens', code: 'rate' })
  assert.equal(readError({ error: 'no' })?.message, 'no')
  assert.equal(readError({ detail: 'Not Found' })?.message, 'Not Found')
  assert.equal(readError({ object: 'error', message: 'm' })?.message, 'm')
  assert.equal(readError([{ error: { message: 'in a list' } }])?.message, 'in a list')
  const stream = 'data: {"choices":[]}\n\nevent: error\ndata: {"error":{"message":"cut"}}\n\ndata: {"error'
  assert.equal(readError(stream)?.message, 'cut')
  assert.equal(readError('data: {"choices":[{"delta":{"content":"\\"error\\""}}]}\n\n'), null)
  assert.equal(readError({ choices: [] }), null)
})

test('no answer is too odd', () => {
  const names = fc.constantFrom('choices', 'output', 'data', 'results', 'error', 'content')
  fc.assert(
    fc.property(fc.jsonValue(), names, (value, name) => {
      for (const body of [value, { [name]: value }, { [name]: [value], type: 'message', object: 'list' }]) {
        for (const { parts } of readAnswer({ body })) {
          for (const part of parts) assert.equal(typeof part.text, 'string')
        }
        assert.equal(typeof (readError(body)?.message ?? ''), 'string')
      }
    }),
  )
})
