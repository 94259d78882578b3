import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codingFor, isKnown } from './content.ts'

const cases: readonly [header: string | undefined, coding: string | null][] = [
  [undefined, null],
  ['', null],
  ['identity', null],
  ['gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['GZIP;q=1.0, br;q=0.5', 'gzip'],
  ['br;q=0, gzip;q=0.1', 'gzip'],
  ['br; q=0', null],
  ['*', 'br'],
  ['*;q=0.5, br;q=0', 'gzip'],
  ['gzip;q=x', null],
  [',;q=1,,', null],
]
for (const [header, coding] of cases)
  test(`${header}: ${coding}`, () => assert.equal(codingFor(header), coding))

test('a content is known by the tag of any coding, in a list, weak or not', () => {
  for (const header of ['"a"', '"a-br"', 'W/"a-gzip"', '"x", "a"', '*'])
    assert.equal(isKnown(header, 'a'), true, header)
  for (const header of [undefined, '', '"b"', 'a', '"a-zstd"'])
    assert.equal(isKnown(header, 'a'), false, header)
})
