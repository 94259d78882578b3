import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeldRequests } from './held-requests.ts'

test('a request is held until its answer takes it', () => {
  const requests = new HeldRequests()
  requests.add('1', 'first')
  requests.add('1', 'again')
  assert.equal(requests.take('1'), 'again')
  assert.equal(requests.take('1'), null)
})

test('of too many, and of those that are too large together, the oldest go', () => {
  const requests = new HeldRequests()
  for (let id = 0; id <= 10_000; id += 1) requests.add(String(id), '')
  assert.deepEqual([requests.take('0'), requests.take('1')], [null, ''])
  const megabyte = 'x'.repeat(1024 * 1024)
  for (let id = 20_000; id < 20_040; id += 1) requests.add(String(id), megabyte)
  assert.equal(requests.take('20007'), null)
  assert.equal(requests.take('20008'), megabyte)
  requests.add('1', megabyte.repeat(33))
  assert.equal(requests.take('20039'), null, 'one that is too large alone takes all with it')
})
