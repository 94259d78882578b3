import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PayloadRecord } from '../../api/raw-log.ts'
import { HeldRequests } from './held-requests.ts'

const request = (id: number): PayloadRecord => ({ id: String(id) }) as PayloadRecord

test('a request is held until its answer takes it', () => {
  const held = new HeldRequests()
  held.add(request(1), 'first')
  held.add(request(1), 'again')
  assert.equal(held.take('1')?.data, 'again')
  assert.equal(held.take('1'), null)
})

test('of too many, and of those that are too large together, the oldest go', () => {
  const held = new HeldRequests()
  for (let id = 0; id <= 10_000; id += 1) held.add(request(id), '')
  assert.deepEqual([held.take('0'), held.take('1')?.record.id], [null, '1'])
  const megabyte = 'x'.repeat(1024 * 1024)
  for (let id = 20_000; id < 20_040; id += 1) held.add(request(id), megabyte)
  assert.equal(held.take('20007'), null)
  assert.equal(held.take('20008')?.data, megabyte)
  held.add(request(1), megabyte.repeat(33))
  assert.equal(held.take('20039'), null, 'one that is too large alone takes all with it')
})
