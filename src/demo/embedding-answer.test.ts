import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asRecord } from '../../test/support/json-record.ts'
import { embeddingAnswer } from './embedding-answer.ts'

const model = 'simulated-embedder'

function vectorsOf(fields: Record<string, unknown>): unknown[] {
  const answer = asRecord(embeddingAnswer({ model, ...fields }, Math.random).body)
  return (answer['data'] as unknown[]).map((item) => asRecord(item)['embedding'])
}

test('one vector of length 1 for each input, the same for the same input', () => {
  const [first, second, third] = vectorsOf({ input: ['mill', 'pond', 'mill'] }) as number[][]
  assert.deepEqual(first, third)
  assert.notDeepEqual(first, second)
  assert.equal(first?.length, 64)
  assert.ok(Math.abs(Math.hypot(...(first ?? [])) - 1) < 1e-6)
  assert.deepEqual(vectorsOf({ input: 'mill' }), [first])
})

test('dimensions and base64 as asked for', () => {
  const [numbers] = vectorsOf({ input: 'mill', dimensions: 5 }) as number[][]
  const [text] = vectorsOf({ input: 'mill', dimensions: 5, encoding_format: 'base64' }) as string[]
  const bytes = Buffer.from(text ?? '', 'base64')
  assert.equal(bytes.length, 20)
  assert.deepEqual(
    Array.from({ length: 5 }, (_, i) => bytes.readFloatLE(4 * i)),
    numbers,
  )
})

test('a list of tokens is one input, a list of such lists as many', () => {
  assert.equal(vectorsOf({ input: [1, 2, 3] }).length, 1)
  assert.equal(vectorsOf({ input: [[1, 2], [3]] }).length, 2)
})

test('what cannot be embedded is refused with its parameter', () => {
  const cases: [fields: Record<string, unknown>, param: string][] = [
    [{ model }, 'input'],
    [{ model, input: '' }, 'input'],
    [{ model, input: [] }, 'input'],
    [{ model, input: Array.from({ length: 2049 }, () => 'a') }, 'input'],
    [{ model, input: 'a', dimensions: 0 }, 'dimensions'],
    [{ model, input: 'a', dimensions: 5000 }, 'dimensions'],
    [{ model: 'simulated-small', input: 'a' }, 'model'],
  ]
  for (const [fields, param] of cases) {
    assert.throws(() => embeddingAnswer(fields, Math.random), {
      name: 'ApiError',
      status: 400,
      details: { param },
    })
  }
})
