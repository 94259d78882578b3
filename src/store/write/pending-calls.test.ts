import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bareCall, chatCall } from '../../../test/store/sample-call.ts'
import { PendingCalls } from './pending-calls.ts'

const ids = (calls: readonly { id: number }[]): number[] => calls.map((call) => call.id)

test('calls come out in order, over many takings', () => {
  const pending = new PendingCalls(100_000, 1e9)
  const seen: number[] = []
  for (let id = 0; id < 20_000; id++) {
    assert.deepEqual(pending.add(chatCall(id), 0), [])
    if (id % 7 === 0) seen.push(...ids(pending.take(5)))
  }
  seen.push(...ids(pending.take(Number.MAX_SAFE_INTEGER)))
  assert.deepEqual(
    seen,
    Array.from({ length: 20_000 }, (_, id) => id),
  )
  assert.equal(pending.size, 0)
})

test('beyond the limit the oldest make way, those elsewhere counted', () => {
  const pending = new PendingCalls(3, 1e9)
  for (const id of [1, 2, 3]) assert.deepEqual(pending.add(bareCall(id), 0), [])
  assert.deepEqual(ids(pending.add(bareCall(4), 0)), [1])
  assert.deepEqual(ids(pending.add(bareCall(5), 2)), [2, 3, 4])
  assert.deepEqual(ids(pending.take(9)), [5])
})

test('long texts reach the limit of bytes first', () => {
  const pending = new PendingCalls(1000, 100_000)
  const dropped = Array.from({ length: 20 }, (_, id) =>
    pending.add({ ...bareCall(id), endpoint: 'x'.repeat(10_000) }, 0),
  ).flat()
  assert.deepEqual(
    ids(dropped),
    Array.from({ length: 16 }, (_, id) => id),
  )
  assert.equal(pending.size, 4)
  pending.take(4)
  for (let id = 0; id < 50; id++) assert.deepEqual(pending.add(bareCall(id), 0), [])
})

test('what is put back is first again', () => {
  const pending = new PendingCalls(10, 1e9)
  for (const id of [1, 2, 3]) pending.add(bareCall(id), 0)
  const taken = pending.take(2)
  pending.putBack(taken)
  assert.deepEqual(ids(pending.take(9)), [1, 2, 3])
})

test('each is new once, wherever it has been meanwhile', () => {
  const pending = new PendingCalls(100_000, 1e9)
  const seen: number[] = []
  for (let id = 0; id < 12_000; id++) {
    pending.add(bareCall(id), 0)
    if (id % 5 === 0) seen.push(...ids(pending.takeNew()))
    // None leaves that was not asked for before.
    if (id % 1000 === 999) {
      seen.push(...ids(pending.takeNew()))
      pending.putBack(pending.take(300).slice(100))
    }
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 12_000 }, (_, id) => id),
  )
  assert.deepEqual(pending.takeNew(), [])
})
