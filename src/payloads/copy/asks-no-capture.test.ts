import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asksNoCapture } from './asks-no-capture.ts'

const cases: readonly (readonly [readonly string[], boolean])[] = [
  [[], false],
  [['x-tokenweir-capture', 'off'], true],
  [['Host', 'localhost', 'X-Tokenweir-Capture', ' OFF '], true],
  [['x-tokenweir-capture', 'on', 'x-tokenweir-capture', 'off'], true],
  [['x-tokenweir-capture', 'on'], false],
  [['x-tokenweir-capture', ''], false],
  [['x-tokenweir-captures', 'off'], false],
  [['x-other', 'x-tokenweir-capture', 'off', 'off'], false],
]
for (const [headers, expected] of cases) {
  test(`${JSON.stringify(headers)}: ${expected}`, () => assert.equal(asksNoCapture(headers), expected))
}
