import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { GatewayMinute } from '../../call/call-sink.ts'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { MinuteReport } from './minute-report.ts'
import { fieldsOf } from '../../../test/support/fields-of.ts'

const startMs = Date.UTC(2026, 10, 21, 6, 0, 20)
const startMinute = Math.floor(startMs / 60_000)

function setUp() {
  const clock = new FakeClock(startMs)
  const running = { activeMax: 0, queuedMax: 0, atLimitMs: 0, admitted: 0 }
  const reports: GatewayMinute[] = []
  let dropped = 100
  let closed = 0
  const report = new MinuteReport({
    clock,
    counts: (closes) => (closes ? { activeMax: 1, queuedMax: 0, atLimitMs: 5, admitted: ++closed } : running),
    sink: { figures: () => ({ written: 0, pending: 0, dropped }), minute: (minute) => reports.push(minute) },
  })
  return { clock, reports, drop: (n: number) => (dropped += n), report, running }
}

describe('MinuteReport', () => {
  it('reports each minute when the wall clock has ended it, with what was dropped in it', () => {
    const { clock, reports, drop } = setUp()
    clock.tick(39_999)
    assert.deepEqual(reports, [])
    drop(3)
    clock.tick(1)
    clock.tick(60_000)
    assert.deepEqual(reports, [
      { minute: startMinute, activeMax: 1, queuedMax: 0, atLimitMs: 5, admitted: 1, dropped: 3 },
      { minute: startMinute + 1, activeMax: 1, queuedMax: 0, atLimitMs: 5, admitted: 2, dropped: 0 },
    ])
  })

  it('keeps no process alive', () => {
    const { clock } = setUp()
    assert.equal(clock.pending(), 1)
    assert.equal(clock.pending(false), 0)
  })

  it('waits on when its timer came before the minute was over', () => {
    const { clock, reports } = setUp()
    clock.stepWallTime(-10)
    clock.tick(40_000)
    assert.deepEqual(reports, [])
    clock.tick(10)
    assert.equal(reports.length, 1)
  })

  it('misses no minute when one turns while it wakes', () => {
    const { clock, reports } = setUp()
    const read = clock.wallTime.bind(clock)
    // Timers come a millisecond early, and the next look at the clock is a millisecond later.
    let looks = 0
    clock.wallTime = () => read() - 1 + (looks++ % 2)
    clock.tick(30 * 60_000)
    assert.deepEqual(
      reports.map(({ minute }) => minute - startMinute),
      Array.from({ length: reports.length }, (_, index) => index),
    )
    assert.ok(reports.length >= 30)
  })

  it('reports the running minute as it changes, and not while nobody calls', () => {
    const { clock, reports, drop, running } = setUp()
    clock.tick(5000)
    assert.deepEqual(reports, [])
    Object.assign(running, { activeMax: 4, queuedMax: 7, atLimitMs: 300, admitted: 9 })
    drop(2)
    clock.tick(5000)
    assert.deepEqual(reports, [{ minute: startMinute, ...running, dropped: 2 }])
    Object.assign(running, { admitted: 10 })
    clock.tick(1000)
    assert.equal(reports.length, 2)
    clock.tick(29_000)
    const last = { activeMax: 1, queuedMax: 0, atLimitMs: 5, admitted: 1 }
    assert.deepEqual(reports.slice(2), [{ minute: startMinute, ...last, dropped: 2 }])
    clock.tick(1000)
    assert.deepEqual(reports.slice(3), [{ minute: startMinute + 1, ...running, dropped: 0 }])
  })

  it('follows a wall clock that is set', () => {
    const { clock, reports } = setUp()
    clock.stepWallTime(3_600_000)
    clock.tick(40_000)
    clock.stepWallTime(-7_200_000)
    clock.tick(60_000)
    clock.tick(60_000)
    assert.equal(reports.map(({ minute }) => minute - startMinute).join(' '), '0 60 61 -59 -58')
  })

  it('reports the unfinished minute when it is closed, once', () => {
    const { clock, reports, report } = setUp()
    clock.tick(10_000)
    report.close()
    report.close()
    clock.tick(600_000)
    assert.deepEqual(fieldsOf(reports, 'minute'), [startMinute])
    assert.equal(clock.pending(), 0)
  })
})
