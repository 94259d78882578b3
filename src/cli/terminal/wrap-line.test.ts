import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { displayWidth } from './display-width.ts'
import { wrapLine } from './wrap-line.ts'

test('lines are broken after spaces, and within words that are longer than a line', () => {
  assert.deepEqual(wrapLine('a weir is a low wall', 20), ['a weir is a low wall'])
  assert.deepEqual(wrapLine('a weir is a low wall', 10), ['a weir is', 'a low wall'])
  assert.deepEqual(wrapLine('abcdefgh ij', 3), ['abc', 'def', 'gh', 'ij'])
  assert.deepEqual(wrapLine('語語語', 5), ['語語', '語'])
  assert.deepEqual(wrapLine('', 5), [''])
  assert.deepEqual(wrapLine('  "content": "a weir is"', 12), ['  "content":', '"a weir is"'])
  assert.deepEqual(wrapLine('    abcdef', 6), ['    ab', 'cdef'])
})

test('no line is too wide, and nothing but spaces is lost', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', 'bc', ' ', '  ', '語', '😀', 'é'),
    maxLength: 80,
    size: 'max',
  })
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 30 }), (line, width) => {
      const lines = wrapLine(line, width)
      for (const each of lines) assert.ok(displayWidth(each.trimEnd()) <= width, each)
      assert.equal(lines.join('').replaceAll(' ', ''), line.replaceAll(' ', ''))
    }),
  )
})
