/** However and whenever it is stopped: nothing stays, and nobody sees a stack. `test:faults` tries a hundred moments. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type StopMoment, stopAtMoment } from './stop-moments.ts'

const moments: readonly StopMoment[] = [
  // The gateway has just been started, and is not ready.
  { command: 'up', way: 'twice', afterMs: null, againAfterMs: 0 },
  { command: 'demo', way: 'twice', afterMs: null, againAfterMs: 60 },
  { command: 'up', way: 'group', afterMs: null, againAfterMs: 0 },
  { command: 'demo', way: 'service', afterMs: null, againAfterMs: 0 },
  { command: 'gateway', way: 'hangup', afterMs: 700, againAfterMs: 0 },
  { command: 'dashboard', way: 'group', afterMs: 900, againAfterMs: 0 },
]

for (const moment of moments) {
  const { command, way, afterMs } = moment
  const when = afterMs === null ? 'while its gateway starts' : `after ${afterMs} ms`
  test(`${command}, stopped by ${way} ${when}, leaves nothing behind`, async () => {
    assert.deepEqual(await stopAtMoment(moment), [])
  })
}
