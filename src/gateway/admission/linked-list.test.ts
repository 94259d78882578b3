import assert from 'node:assert/strict'
import { it } from 'node:test'
import * as fc from 'fast-check'
import { LinkedList } from './linked-list.ts'
import type { Place } from './linked-list.ts'

const step = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: 'push' as const, n: 0 }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'shift' as const, n: 0 }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), n: fc.nat(99) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'clear' as const, n: 0 }) },
)

it('LinkedList keeps the order of an array, whatever is taken out of it', () => {
  const property = fc.property(fc.array(step, { maxLength: 100, size: 'max' }), (steps) => {
    const list = new LinkedList<number>()
    let expected: Place<number>[] = []
    let count = 0
    for (const { kind, n } of steps) {
      if (kind === 'push') expected.push(list.push(count++))
      else if (kind === 'shift') assert.equal(list.shift(), expected.shift() ?? null)
      else if (kind === 'clear') {
        list.clear()
        expected = []
      } else {
        const place = expected[n % Math.max(1, expected.length)]
        if (place === undefined) continue
        assert.equal(list.remove(place), true)
        assert.equal(list.remove(place), false)
        expected = expected.filter((each) => each !== place)
      }
      assert.equal(list.size, expected.length)
      assert.equal(list.first, expected[0] ?? null)
    }
    for (const place of expected) assert.equal(list.shift(), place)
    assert.equal(list.shift(), null)
  })
  fc.assert(property)
})

it('LinkedList lets go only of its own', () => {
  const one = new LinkedList<number>()
  const other = new LinkedList<number>()
  const place = one.push(1)
  assert.equal(other.remove(place), false)
  assert.equal(one.size, 1)
})
