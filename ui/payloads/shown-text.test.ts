import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstWords, shownText } from './shown-text.ts'

test('what would hide or turn other text is seen', () => {
  assert.equal(shownText('\u001b[31mred\u0007\u007f'), '␛[31mred␇␡')
  assert.equal(shownText('a\u202egnp.exe\u2066b'), 'a[U+202E]gnp.exe[U+2066]b')
  assert.equal(shownText('line\n\ttab\r\nعربي 👋'), 'line\n\ttab\r\nعربي 👋')
})

test('the first words stand on one line, and never end in half of a character', () => {
  assert.equal(firstWords('  one\n\ttwo  ', 20), 'one two')
  assert.equal(firstWords('abcdef', 4), 'abcd…')
  assert.equal(firstWords('abc👋👋', 4), 'abc…')
  assert.ok(firstWords('x'.repeat(1_000_000), 10).length <= 11)
})
