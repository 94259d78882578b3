import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onlyZeros } from './only-zeros.ts'

const cases: readonly [text: string, answer: boolean][] = [
  ['{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}', true],
  ['{ "prompt_tokens" :\n0 , "details": {"cached_tokens": 0.0}, "x": null}', true],
  ['{"ephemeral_5m_input_tokens":0}', true],
  ['{"prompt_tokens":0,"completion_tokens":10}', false],
  ['{"prompt_tokens":\t7}', false],
  ['{"prompt_tokens":0,"completion_tokens":"9"}', false],
  ['{"prompt_tokens":0,"completion_tokens":"x"}', false],
  ['{"prompt_tokens":null}', false],
  ['{}', false],
  ['{"broken', false],
]

for (const [text, answer] of cases) {
  test(`${JSON.stringify(text)} ${answer ? 'has' : 'has not'} only zeros`, () => {
    const bytes = Buffer.from(`"9":9${text}"9":9`)
    assert.equal(onlyZeros(bytes, 5, bytes.length - 5), answer)
  })
}
