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
  assert.deepEqual(readAnswer(record), [
    {
      speaker: 'Assistant',
      note: null,
      parts: [
        { kind: 'reasoning', text: 'hm' },
        { kind: 'text', text: 'It is warm.' },
        { kind: 'call', name: 'get', id: 'c1', text: '{"a":1}' },
      ],
    },
  ])
  assert.equal(isReassembled({ body: 'data: {}\n\n', text: null, reasoning: null, tool_calls: [] }), false)
})

test('answers of every form', () => {
  assert.deepEqual(read({ choices: [{ message: { content: 'a' }, finish_reason: 'length' }] }), [
    'Assistant (finish reason: length): a',
  ])
  assert.deepEqual(read({ choices: [{ message: { content: 'a' } }, { message: { content: 'b' } }] }), [
    'Assistant, choice 1: a',
    'Assistant, choice 2: b',
  ])
  assert.deepEqual(read({ choices: [{ text: 'a', finish_reason: 'stop' }] }), ['Assistant: a'])
  assert.deepEqual(read({ type: 'message', role: 'assistant', content: [{ type: 'text', text: 'a' }] }), [
    'Assistant: a',
  ])
  assert.deepEqual(
    read({ output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a' }] }] }),
    ['Assistant: a'],
  )
  assert.deepEqual(read({ object: 'list', data: [{ embedding: [1, 2] }, { embedding: [3, 4] }] }), [
    'Response: 2 embeddings, each of 2 numbers',
  ])
  assert.deepEqual(read({ object: 'list', data: [{ id: 'm' }, { id: 'n' }] }), ['Response: m\nn'])
  assert.deepEqual(read({ results: [{ index: 1, relevance_score: 0.5 }] }), ['Ranking: Document 2: 0.5'])
  assert.deepEqual(read({ error: { message: 'no' } }), [])
})

test('the error of an answer is found, in a body and in a stream', () => {
  assert.deepEqual(
    readError({ error: { message: 'slow down', type: 'tokens', code: 'rate', param: null } }),
    {
      message: 'slow down',
      facts: [
        ['type', 'tokens'],
        ['code', 'rate'],
      ],
    },
  )
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
