import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entityTag, isKnown } from './entity-tag.ts'

test('each coding has a tag of its own', () => {
  assert.deepEqual(
    [entityTag('a', null), entityTag('a', 'br'), entityTag('a', 'gzip')],
    ['"a"', '"a-br"', '"a-gzip"'],
  )
})

test('a content is known by the tag of any coding, in a list, weak or not', () => {
  for (const header of ['"a"', '"a-br"', 'W/"a-gzip"', '"x", "a"', '*'])
    assert.equal(isKnown(header, 'a'), true, header)
  for (const header of [undefined, '', '"b"', 'a', '"a-zstd"'])
    assert.equal(isKnown(header, 'a'), false, header)
})
