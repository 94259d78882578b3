import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { HistoryWriter } from '../write/history-writer.ts'
import { makeSchema } from '../sqlite/schema.ts'
import { historyReader } from './history-reader.ts'
import { draws } from '../../../test/support/draws.ts'

const firstMinute = 60 * 500_000
const minutes = 400

test('spans of any length say what their minutes say, whoever wrote them and however often', async () => {
  const written = fc.record({
    minute: fc.integer({ min: firstMinute, max: firstMinute + minutes }),
    activeMax: fc.nat(9),
    queuedMax: fc.nat(9),
    atLimitMs: fc.nat(60_000),
    admitted: fc.nat(9),
    dropped: fc.constant(0),
  })
  const bound = fc.integer({ min: firstMinute - 70, max: firstMinute + minutes + 70 })
  const property = fc.asyncProperty(
    fc.array(fc.tuple(fc.constantFrom('a', 'b'), written), { maxLength: 80, size: 'max' }),
    bound,
    bound,
    async (all, one, other) => {
      const database = new DatabaseSync(':memory:')
      makeSchema(database)
      try {
        const writers = {
          a: new HistoryWriter(database, { instance: 'a', version: '0' }),
          b: new HistoryWriter(database, { instance: 'b', version: '0' }),
        }
        for (const [instance, minute] of all) writers[instance].write([minute], [])
        const [from, past] = one < other ? [one, other] : [other, one]
        // The last word on a minute wins.
        const standing = new Map(
          all.map(([instance, minute]) => [`${instance} ${minute.minute}`, { instance, ...minute }]),
        )
        const inside = [...standing.values()].filter(({ minute }) => minute >= from && minute < past)
        const most = (values: readonly number[]): number => Math.max(0, ...values)
        const [use] = await historyReader(database).slotUse([from * 60_000, past * 60_000])
        assert.deepEqual(use, {
          minutes: inside.length,
          activeMax: most(inside.map(({ activeMax }) => activeMax)),
          queuedMax: most(inside.map(({ queuedMax }) => queuedMax)),
          atLimitMs: inside.reduce((sum, { atLimitMs }) => sum + atLimitMs, 0),
          firstMinute: inside.length === 0 ? 0 : Math.min(...inside.map(({ minute }) => minute)),
          lastMinute: most(inside.map(({ minute }) => minute)),
          isOne: new Set(inside.map(({ instance }) => instance)).size < 2,
        })
      } finally {
        database.close()
      }
    },
  )
  await fc.assert(property, { numRuns: draws(60) })
})
