/** A limit limits across kills, restarts, a locked database and clients that leave; measured at length by `test/faults/budget-limits.ts`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  restartsBesideAReservation,
  restartsWithLockedDatabase,
  startWithLockedDatabase,
  startsBeyondTheLimit,
  streamsThatAreLeft,
} from '../faults/budget-rounds.ts'

test('after kill -9 nothing is let through before it is known what was used', async () => {
  const figures = await startsBeyondTheLimit(1, 40)
  assert.deepEqual(figures, { starts: 1, refused: 40, admitted: 0 })
})

test('with a locked database calls wait, /health says why, and the limit holds once it is read', async () => {
  const { early, admitted, late, known, warnings } = await startWithLockedDatabase(0)
  assert.deepEqual(
    { early, admitted, late, known },
    {
      early: [],
      admitted: 0,
      late: '429 token_budget_exceeded',
      known: false,
    },
  )
  assert.ok(warnings.includes('budget_unknown'))
})

test('gateways that replace each other before the past was read count each call once', async () => {
  const { counted, used, knewBefore } = await restartsWithLockedDatabase()
  assert.deepEqual([counted, knewBefore], [used, false])
})

test('what a call in flight may use stays reserved across restarts', async () => {
  const figures = await restartsBesideAReservation(2, 3)
  assert.deepEqual(figures, { restarts: 2, refused: 6, admitted: 0, isFreed: true })
})

test('streams that are left before their usage count what passed, after a restart too', async () => {
  const { streamed, limit, inRows, isKept } = await streamsThatAreLeft(4, 2000)
  assert.ok(streamed > 0.9 * limit && streamed < 1.15 * limit, `${streamed} of ${limit}`)
  assert.deepEqual([inRows, isKept], [0, true])
})
