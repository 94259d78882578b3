import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bareCall, chatCall } from '../../../test/store/sample-call.ts'
import { PendingCalls } from './pending-calls.ts'
import { BatchEncoder, type FilledBatch, numbersPerCall } from './record-batch.ts'

const pendingUpTo = (limit: number): PendingCalls => new PendingCalls(limit, new BatchEncoder())
const idsOf = (batch: FilledBatch | null): number[] =>
  [...(batch?.numbers() ?? [])].filter((_, index) => index % numbersPerCall === 0)
const numbered = (count: number): number[] => Array.from({ length: count }, (_, id) => id)

test('calls come out in order, at most a thousand at a time, over many takings', () => {
  const pending = pendingUpTo(100_000)
  const ids: number[] = []
  const take = (): void => {
    const batch = pending.nextBatch()
    assert.ok(batch !== null && batch.size <= 1000)
    ids.push(...idsOf(batch))
  }
  for (let id = 0; id < 20_000; id++) {
    assert.equal(pending.add(chatCall(id), 0), 0)
    if (id % 1700 === 0) take()
  }
  while (pending.size > 0) take()
  assert.deepEqual(ids, numbered(20_000))
  assert.equal(pending.nextBatch(), null)
})

test('the oldest make way over many batches', () => {
  const pending = pendingUpTo(1500)
  let dropped = 0
  for (let id = 0; id < 5000; id++) dropped += pending.add(bareCall(id), 0)
  const left = [...idsOf(pending.nextBatch()), ...idsOf(pending.nextBatch()), ...idsOf(pending.nextBatch())]
  assert.equal(dropped, 3500)
  assert.deepEqual(left, numbered(5000).slice(3500))
  assert.equal(pending.size, 0)
})

test('what is put back is first again', () => {
  const pending = pendingUpTo(10)
  for (const id of [1, 2]) pending.add(bareCall(id), 0)
  const taken = pending.nextBatch()!
  pending.add(bareCall(3), 0)
  pending.putBack(taken)
  assert.equal(pending.size, 3)
  assert.deepEqual([...idsOf(pending.nextBatch()), ...idsOf(pending.nextBatch())], [1, 2, 3])
})
