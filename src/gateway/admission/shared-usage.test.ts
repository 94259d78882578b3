import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { SharedUsage } from './shared-usage.ts'
import { TokenWindow } from './token-window.ts'

test('other gateways learn at once that a call in flight has ended, before its row can come', async () => {
  const clock = new FakeClock()
  const window = new TokenWindow(1000)
  const reports: number[] = []
  const syncBudget = async ({ reserved }: { readonly reserved: number }): Promise<null> => {
    reports.push(reserved)
    return null
  }
  const usage = new SharedUsage(clock, { syncBudget }, window)
  const pass = async (ms: number): Promise<void> => {
    await clock.advance(ms)
    await turn()
  }
  await turn()
  window.reserve(900)
  await pass(20)
  assert.deepEqual(reports, [0], 'a call that begins waits for the next report')
  await pass(480)
  window.reserve(-900)
  await pass(20)
  assert.deepEqual(reports, [0, 900, 0])
  window.reserve(5)
  window.reserve(-5)
  await pass(20)
  assert.equal(reports.length, 3, 'a call that was never reported needs no report')
  usage.close()
})
