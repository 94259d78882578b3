import assert from 'node:assert/strict'
import { it } from 'node:test'
import * as fc from 'fast-check'
import { displayWidth, pad, shorten } from './display-width.ts'
import { printable } from './printable.ts'

it('displayWidth counts the columns of a terminal', () => {
  const widths: readonly (readonly [string, number])[] = [
    ['', 0],
    ['gpt-5', 5],
    ['–→…✓✗·└', 7],
    ['é', 1],
    ['e\u0301', 1],
    ['通义千问', 8],
    ['ｇｐｔ', 6],
    ['한국어', 6],
    ['ﾊﾝ', 2],
    ['🚀', 2],
    ['👩‍💻', 2],
    ['🇩🇪', 2],
    ['❤️', 2],
    ['❤', 1],
    ['a通b🚀', 6],
  ]
  for (const [text, width] of widths) assert.equal(displayWidth(text), width, JSON.stringify(text))
})

it('printable leaves nothing that a terminal would obey', () => {
  assert.equal(printable('gpt-5'), 'gpt-5')
  assert.equal(printable('Modell für 通义🚀'), 'Modell für 通义🚀')
  assert.equal(printable('a\r\n\tb'), 'a b')
  assert.equal(printable('\x1b[31mred\x07\x7f\x9b'), '�[31mred���')
  assert.equal(printable('a\u202eb\u2066c\u200b'), 'a�b�c�')
  assert.equal(printable('a\ud800b'), 'a�b')
})

it('printable is safe for any text', () => {
  const unit = fc
    .integer({ min: 0, max: 0x2fff })
    .map((code) => String.fromCharCode(code < 0x2800 ? code : code + 0xb000))
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 60, size: 'max' }), (text) => {
      assert.doesNotMatch(printable(text), /[\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]/u)
    }),
  )
})

it('pad fills up on either side', () => {
  assert.equal(pad('千', 4, 'left'), '千  ')
  assert.equal(pad('12', 4, 'right'), '  12')
  assert.equal(pad('12345', 4, 'right'), '12345')
})

it('a long name keeps both its ends', () => {
  assert.equal(shorten('gpt-5', 5, 'middle'), 'gpt-5')
  assert.equal(shorten('abcdefghij', 7, 'middle'), 'abc…hij')
  assert.equal(shorten('abcdefghij', 6, 'middle'), 'abc…ij')
  assert.equal(shorten('千千千千千', 7, 'middle'), '千…千')
  assert.equal(shorten('abcdefghij', 4), 'abc…')
  assert.equal(shorten('abc', 0), '')
})

it('a shortened text is never wider than asked for', () => {
  const unit = fc.constantFrom('a', 'b', '-', '千', '🚀', 'é', '👩‍💻')
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 40, size: 'max' }), fc.nat(20), (text, width) => {
      for (const at of ['end', 'middle'] as const) {
        const short = shorten(text, width, at)
        assert.ok(displayWidth(short) <= width)
        if (displayWidth(text) <= width) assert.equal(short, text)
      }
    }),
  )
})
