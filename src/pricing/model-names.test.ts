import assert from 'node:assert/strict'
import { test } from 'node:test'
import { candidateNames, exactNames } from './model-names.ts'

test('the model that answered goes before the one asked for, exact before shortened', () => {
  const cases: readonly (readonly [answered: string | null, asked: string, names: string])[] = [
    ['gpt-4o-2024-08-06', 'gpt-4o-latest', 'gpt-4o-2024-08-06 gpt-4o gpt-4o-latest'],
    [null, 'mistral-large-latest', 'mistral-large-latest mistral-large'],
    [null, 'claude-sonnet-4-5-20250929', 'claude-sonnet-4-5-20250929 claude-sonnet-4-5'],
    [
      null,
      'models/gemini-2.5-pro-preview-05-06',
      'models/gemini-2.5-pro-preview-05-06 gemini-2.5-pro-preview-05-06 gemini-2.5-pro',
    ],
  ]
  for (const [answered, wanted, names] of cases)
    assert.equal(candidateNames(answered, wanted).join(' '), names)
})

test('nothing else of a name is cut off', () => {
  for (const name of 'qwen3-8b-q4.gguf llama3.1:8b gpt-4o-mini m-2024 m-latest-2 m-123456789'.split(' ')) {
    assert.deepEqual(candidateNames(null, name), [name])
  }
})

test('there may be none', () => {
  assert.deepEqual(exactNames(null, null), [])
  assert.deepEqual(exactNames('', 'a'), ['a'])
  assert.deepEqual(candidateNames('', null), [])
  assert.deepEqual(candidateNames(null, '-latest'), ['-latest'])
})
