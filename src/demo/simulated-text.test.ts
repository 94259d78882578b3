import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../test/support/seeded-random.ts'
import { reasoningOpening, simulatedText, tokensOf } from './simulated-text.ts'

test('a text says that it is simulated, has the words asked for, and ends with a sentence', () => {
  const random = seededRandom(3)
  for (const words of [0, 1, 40, 100, 1000]) {
    for (const [text, opening] of [
      [simulatedText(words, random), /^This answer is simulated; no model wrote it\. [A-Z]/],
      [simulatedText(words, random, reasoningOpening), /^Simulated reasoning: [A-Z]/],
    ] as const) {
      assert.match(text, opening)
      assert.match(text, /\.$/)
      const count = tokensOf(text).length
      assert.ok(count >= words && count < words + 60, `${count} words where ${words} were asked for`)
    }
  }
})

test('tokens put together are the text', () => {
  const text = simulatedText(300, seededRandom(4))
  assert.equal(tokensOf(text).join(''), text)
  assert.deepEqual(tokensOf('one two\n\nthree.'), ['one ', 'two\n\n', 'three.'])
  assert.deepEqual(tokensOf(''), [])
})
