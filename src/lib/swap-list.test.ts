import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { type Placed, SwapList } from './swap-list.ts'

test('holds exactly what was added and not removed, in whatever order', () => {
  const removals = fc.array(fc.nat(), { size: 'max', maxLength: 100 })
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 50 }), removals, (count, picks) => {
      const list = new SwapList<Placed>()
      const expected = new Set<Placed>()
      const add = (): void => {
        const member = { index: -1 }
        list.add(member)
        expected.add(member)
      }
      for (let i = 0; i < count; i++) add()
      for (const pick of picks) {
        const victim = [...expected][pick % (expected.size || 1)]
        if (victim === undefined || pick % 3 === 0) add()
        else {
          list.remove(victim)
          expected.delete(victim)
        }
      }
      assert.equal(list.size, expected.size)
      assert.deepEqual(new Set(list), expected)
    }),
  )
})
