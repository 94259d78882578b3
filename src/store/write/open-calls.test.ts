import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callStart } from '../../../test/store/sample-call.ts'
import { OpenCalls } from './open-calls.ts'

const idsOf = (open: OpenCalls): readonly number[] => open.dueRows().map(([id]) => id)

test('a call that ends before is never taken, and one that never began may end', () => {
  const open = new OpenCalls()
  const [short, other] = [callStart(1), callStart(2)]
  open.begin(short)
  open.tick()
  open.end(short)
  open.end(other)
  assert.ok(!open.areWaiting)
  open.tick()
  assert.deepEqual(idsOf(open), [])
})

test('calls are taken also where the clock was set back', () => {
  const open = new OpenCalls()
  open.begin(callStart(1000))
  open.begin(callStart(5))
  open.tick()
  open.tick()
  assert.deepEqual(idsOf(open), [1000, 5])
})

test('many calls are taken in parts', () => {
  const open = new OpenCalls()
  for (let id = 1; id <= 2500; id++) open.begin(callStart(id))
  open.tick()
  open.tick()
  assert.equal([1, 2, 3].map(() => idsOf(open).length).join(' '), '1000 1000 500')
})
