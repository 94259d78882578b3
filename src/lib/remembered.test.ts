import assert from 'node:assert/strict'
import { test } from 'node:test'
import { heldMegabytes } from '../../test/support/held-memory.ts'
import { remembered } from './remembered.ts'

test('what repeats is worked out once, and what was forgotten again', () => {
  let lookups = 0
  const length = remembered((key) => {
    lookups++
    return key.length
  })
  assert.deepEqual([length('a'), length('a'), length('bb'), lookups], [1, 1, 2, 2])
  for (let i = 0; i < 1000; i++) length(`key ${i}`)
  length('a')
  assert.equal(lookups, 1003)
})

test('keys of strangers hold no more than some bytes, whatever they are', () => {
  const lengths: readonly (readonly [what: string, count: number, key: (i: number) => string])[] = [
    ['long ones', 500, (i) => `${i}${'x'.repeat(60_000)}`],
    ['many', 5000, (i) => `${i}${'x'.repeat(900)}`],
    ['parts of long ones', 500, (i) => `${i}${'y'.repeat(60_000)}`.slice(0, 100)],
  ]
  for (const [what, count, key] of lengths) {
    const megabytes = heldMegabytes(() => {
      const same = remembered((text) => text)
      for (let i = 0; i < count; i++) same(key(i))
      return same
    })
    assert.ok(megabytes < 3, `${what}: ${megabytes} MB`)
  }
})
