import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from './clock.ts'

test("a delay that is aborted rejects with the signal's reason, before or while it lasts", async () => {
  const reason = new Error('the client left')
  await assert.rejects(systemClock.delay(60_000, AbortSignal.abort(reason)), (error) => error === reason)
  const aborting = new AbortController()
  const delay = systemClock.delay(60_000, aborting.signal)
  aborting.abort(reason)
  await assert.rejects(delay, (error) => error === reason)
  await systemClock.delay(1, new AbortController().signal)
})
