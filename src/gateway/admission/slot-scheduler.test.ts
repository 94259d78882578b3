import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SlotScheduler } from './slot-scheduler.ts'
import { fieldsOf } from '../../../test/support/fields-of.ts'

test('a call that comes back goes behind those that wait since longer, and before the others', () => {
  for (const discipline of ['fifo', 'fair'] as const) {
    const queue = new SlotScheduler<string>(1, 0)
    queue.arrange(discipline, new Map(), [])
    const from = (client: string) => ({ client, keyFingerprint: null })
    queue.tryAdmit('arrival', from('a'))
    queue.wait('b', 'arrival', from('b'), 10)
    queue.wait('c', 'arrival', from('c'), 20)
    queue.wait('young', 'back', from('a'), 25)
    queue.wait('middle', 'back', from('a'), 15)
    queue.wait('d', 'arrival', from('d'), 30)
    queue.wait('old', 'back', from('a'), 5)
    const order = ['old', 'b', 'middle', 'c', 'young', 'd']
    if (discipline === 'fifo') assert.deepEqual(fieldsOf(queue.waiting, 'call'), order)
    const served = order.map(() => {
      queue.release(0)
      return queue.next(0)?.call
    })
    assert.deepEqual(served, order)
  }
})
