import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { GatewayMinute } from '../../call/call-sink.ts'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { MinuteReport } from './minute-report.ts'

const startMs = Date.UTC(2026, 10, 21, 6, 0, 20)
const startMinute = Math.floor(startMs / 60_000)

function setUp(): {
  clock: FakeClock
  reports: GatewayMinute[]
  drop: (n: number) => void
  report: MinuteReport
} {
  const clock = new FakeClock(startMs)
  const reports: GatewayMinute[] = []
  let dropped = 100
  let closed = 0
  const report = new MinuteReport({
    clock,
    closeMinute: () => ({ activeMax: 1, queuedMax: 0, atLimitMs: 5, admitted: ++closed }),
    droppedTotal: () => dropped,
    report: (minute) => reports.push(minute),
  })
  return { clock, reports, drop: (n) => (dropped += n), report }
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

  it('follows a wall clock that is set', () => {
    const { clock, reports } = setUp()
    clock.stepWallTime(3_600_000)
    clock.tick(40_000)
    clock.stepWallTime(-7_200_000)
    clock.tick(60_000)
    clock.tick(60_000)
    assert.deepEqual(
      reports.map(({ minute }) => minute - startMinute),
      [0, 61, -58],
    )
  })

  it('reports the unfinished minute when it is closed, once', () => {
    const { clock, reports, report } = setUp()
    clock.tick(10_000)
    report.close()
    report.close()
    clock.tick(600_000)
    assert.deepEqual(
      reports.map(({ minute }) => minute),
      [startMinute],
    )
    assert.equal(clock.pending(), 0)
  })
})
