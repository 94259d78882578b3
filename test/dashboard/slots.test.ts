import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SlotWaitsReport } from '../../src/api/slot-waits.ts'
import type { CallRecord } from '../../src/call/call-record.ts'
import { idsPerMs } from '../../src/call/call-id.ts'
import { chatCall, sampleStartMs } from '../store/sample-call.ts'
import { errorOf } from './dashboard-under-test.ts'
import { startQueried } from './query-database.ts'

const neverServed = { attempts: 0, status: 503, outcome: 'refused', durationMs: 0.5, queueMs: 0.5 } as const

/** Eight calls that came at once and held two slots for a second each; then one alone. */
const served: readonly CallRecord[] = [0, 0, 1000, 1000, 2000, 2000, 3000, 3000].map((queueMs, index) =>
  Object.assign(chatCall(sampleStartMs * idsPerMs + index), {
    receiveMs: 0,
    queueMs,
    durationMs: queueMs + 1000,
  }),
)
const alone: CallRecord = {
  ...chatCall((sampleStartMs + 60_000) * idsPerMs),
  receiveMs: 5,
  queueMs: 0,
  durationMs: 1005,
}
const calls: readonly CallRecord[] = [
  ...served,
  alone,
  { ...alone, ...neverServed, id: alone.id + 1, failureCode: 'queue_full' },
  // These had no part in it.
  { ...alone, ...neverServed, id: alone.id + 2, failureCode: 'draining' },
  { ...alone, id: alone.id + 3, method: 'GET' },
  { ...alone, id: alone.id + 4, upstreamName: 'local', durationMs: 9005 },
]
const day = new Date(sampleStartMs - 3_600_000).toISOString()

test('how calls waited, and would have with more slots', async () => {
  await using queried = await startQueried({
    calls,
    events: [{ atMs: sampleStartMs - 1000, kind: 'start', detail: '{"max_concurrent":2}' }],
  })
  const ask = (query: string): Promise<SlotWaitsReport> => queried.getJson(`/api/slots?from=${day}&${query}`)
  const waits = (waited: number, p95: number, max = p95) => ({
    waited,
    wait_p95_ms: p95,
    wait_max_ms: max,
  })
  const { from, to, ...told } = await ask('slot_cooldown_ms=0')
  assert.equal(Date.parse(from), Date.parse(day))
  assert.ok(Date.parse(to) > Date.parse(from))
  assert.deepEqual(told, {
    counted_from: null,
    max_concurrent: 2,
    calls: 9,
    turned_away: 1,
    recorded: waits(6, 3000),
    estimates: [
      { max_concurrent: 2, ...waits(6, 3000) },
      { max_concurrent: 3, ...waits(5, 2000) },
      { max_concurrent: 4, ...waits(4, 1000) },
      { max_concurrent: 6, ...waits(2, 1000) },
      { max_concurrent: 8, ...waits(0, 0) },
    ],
    short_waits_at: 8,
    no_waits_at: 8,
  })

  const cooled = await ask('max_concurrent=1&slot_cooldown_ms=50')
  assert.deepEqual(
    cooled.estimates.map(({ max_concurrent }) => max_concurrent),
    [1, 2, 3, 5, 8],
  )
  assert.equal(cooled.estimates[0]?.wait_max_ms, 7350)

  const local = await ask('upstream_name=local')
  assert.deepEqual([local.calls, local.turned_away, local.no_waits_at], [1, 0, 1])
  const nobody = await ask('upstream_name=nobody')
  assert.deepEqual([nobody.calls, nobody.estimates, nobody.no_waits_at], [0, [], null])
  assert.equal(nobody.recorded.wait_p95_ms, null)

  const badLimit = await queried.get('/api/slots?max_concurrent=0')
  assert.match(errorOf(badLimit).message, /max_concurrent must be a whole number from 1 to 100,000/)
})
