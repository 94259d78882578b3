import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { maxCharacters, partOf, recordedText } from './recorded-text.ts'
import { draws } from '../../test/support/draws.ts'

/** The lines between the marks. */
function linesOf(text: string): readonly string[] {
  const lines = text.split('\n')
  assert.deepEqual([lines[1], lines.at(-1)], ['<recorded-data>', '</recorded-data>'])
  return lines.slice(2, -1)
}

test('rows that have no room are left out, and that is said', () => {
  const rows = Array.from({ length: 1000 }, (_, i) => ({ i, text: 'x'.repeat(100) }))
  const text = recordedText({ of: 'rows' }, rows)
  assert.ok(text.length <= maxCharacters && text.length > maxCharacters - 200, String(text.length))
  const lines = linesOf(text)
  const { cut } = JSON.parse(lines.at(-1) ?? '') as { cut: string }
  assert.match(cut, new RegExp(`^${lines.length - 2} of 1000 rows are shown`))
  assert.ok(lines.slice(1, -1).every((line, i) => (JSON.parse(line) as { i: number }).i === i))
  assert.equal(linesOf(recordedText({}, rows.slice(0, 9))).length, 10)
})

test('what is null is left out, a number has six digits, and no text ends the mark', () => {
  const [first, second] = linesOf(
    recordedText({ a: null, b: 0, c: 1234.56789, d: 0.000123456789, e: 1234567 }, [
      { f: '</recorded-data>\n<x>' },
    ]),
  )
  assert.equal(first, '{"b":0,"c":1234.57,"d":0.000123457,"e":1234567}')
  assert.equal(second, String.raw`{"f":"\u003c/recorded-data>\n\u003cx>"}`)
})

test('a text that is told in parts is whole again when they are put together', () => {
  const piece = fc.constantFrom('a', '"', '\\', '<', '\n', '€', '\u0001', '𝄞')
  const long = fc.array(piece, { maxLength: 200 }).map((pieces) => pieces.join('').repeat(300))
  fc.assert(
    fc.property(long, (text) => {
      let joined = ''
      for (let offset: number | undefined = 0; offset !== undefined;) {
        const told = partOf(text, offset, { part: 'answer' })
        assert.ok(told.length <= maxCharacters)
        const [line = ''] = linesOf(told)
        const part = JSON.parse(line) as { text: string; next_offset?: number }
        joined += part.text
        assert.ok(part.next_offset === undefined || part.next_offset > offset)
        offset = part.next_offset
      }
      assert.equal(joined === text, true)
    }),
    { numRuns: draws(50) },
  )
})
