import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GatewayRow, GatewaysReport } from '../../src/api/gateways.ts'
import { allWords, copyWords, isWorthShowing, releaseQuestion, stateOf } from './gateways-text.ts'

const row: GatewayRow = {
  instance: 'k3v9',
  host: 'north',
  version: '0.2.0',
  state: 'ok',
  away_since: null,
  active: 2,
  held: 3,
  waiting: 0,
  rows_behind: 0,
  lease_left_s: 600,
  is_own: false,
  can_release: false,
}
const report: GatewaysReport = {
  gateways: [row, { ...row, active: 5 }],
  max_concurrent: 12,
  problem: null,
  as_of: '2026-11-01T00:00:00.000Z',
  copy: null,
}

test('several gateways are shown, and one alone only while there is something to say', () => {
  const one = { ...report, gateways: [row] }
  assert.deepEqual([report, one].map(isWorthShowing), [true, false])
  assert.equal(isWorthShowing({ ...one, problem: 'it refuses connections' }), true)
  assert.equal(isWorthShowing({ ...one, copy: { pulled: 0, last: 20_000 } }), true)
  assert.equal(allWords(report), '7 of 12 slots, 2 gateways')
})

test('a silent gateway says when its slots are free, as long as it holds some by its lease', () => {
  const silent = { ...row, state: 'away', away_since: report.as_of, lease_left_s: 90 } as const
  const time = (ms: number): string => String(ms - Date.parse(report.as_of))
  assert.deepEqual(stateOf(row, time).words, 'OK')
  assert.deepEqual([stateOf(silent, time).words, stateOf(silent, time).tone], ['Away since 0', 'bad'])
  assert.match(stateOf(silent, time).details.join(), /freed in 1.m/)
  assert.deepEqual(stateOf({ ...silent, lease_left_s: null, held: 0 }, time).details, [])
  assert.equal(stateOf({ ...row, state: 'learning' }, time).words, 'Rejoining')
})

test('who releases is told what follows, and who waits for a copy how far it is', () => {
  const [first = '', second = ''] = releaseQuestion(row).points
  assert.match(first, /other gateways get its 3 slots\./)
  assert.match(second, /calls may exceed the limit/)
  assert.match(copyWords({ pulled: 430_000, last: 1_000_000 }), /43%, 570,000 rows left/i)
})
