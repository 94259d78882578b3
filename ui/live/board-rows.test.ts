import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LiveCall } from '../../src/api/live-calls.ts'
import { sampleLiveCall } from '../../test/support/live-call.ts'
import { barPieces } from '../call/call-phases.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import { type BoardRow, boardWords, cancelPoints, keptMs, nextRows, timedAt } from './board-rows.ts'

const startMs = Date.parse(sampleLiveCall.started_at)

function call(id: string, rest: Partial<LiveCall> = {}): LiveCall {
  return { ...sampleLiveCall, id, ...rest }
}

const none = (): null => null

function idsOf(rows: readonly BoardRow[]): string {
  return rows.map(({ id, goneMs }) => (goneMs === null ? id : `(${id})`)).join(' ')
}

test('a call keeps its place until it has ended, and for a moment longer; new ones come below', () => {
  const [a, b, c] = [call('a'), call('b'), call('c')]
  let rows = nextRows([], [a, b], 0, false, none)
  rows = nextRows(rows, [b, c], 1000, false, none)
  assert.equal(idsOf(rows), '(a) b c')
  rows = nextRows(rows, [b, c], 999 + keptMs, false, none)
  assert.equal(idsOf(rows), '(a) b c')
  rows = nextRows(rows, [b, c], 1000 + keptMs, false, none)
  assert.equal(idsOf(rows), 'b c')
  // Without a change, the rows stay the same object.
  assert.equal(nextRows(rows, [b, c], 9000, false, none), rows)
})

test('while somebody reads no row moves, and one that was taken for ended comes back in its place', () => {
  const [a, b] = [call('a'), call('b')]
  let rows = nextRows([], [a, b], 0, true, none)
  rows = nextRows(rows, [b], 1000, true, none)
  rows = nextRows(rows, [b], 60_000, true, none)
  assert.equal(idsOf(rows), '(a) b')
  assert.equal(idsOf(nextRows(rows, [b], 60_000, false, none)), 'b')
  assert.equal(idsOf(nextRows(rows, [a, b], 61_000, true, none)), 'a b')
})

test('so many rows of calls that have ended are not kept for anybody', () => {
  const many = Array.from({ length: 2000 }, (_, at) => call(`call ${at}`))
  let rows = nextRows([], many, 0, true, none)
  rows = nextRows(rows, [], 1000, true, none)
  assert.equal(rows.length, 2000)
  assert.equal(nextRows(rows, [], 1000 + keptMs, true, none).length, 0)
})

test('what has ended has the figures of its record, also while the gateway is yet to leave it out', () => {
  const [a, b] = [call('a'), call('b')]
  const record = { id: 'a', duration_ms: 811, chunks: 20 } as CallJson
  const recordOf = (id: string): CallJson | null => (id === 'a' ? record : null)
  let rows = nextRows([], [a, b], 0, false, none)
  rows = nextRows(rows, [a, b], 100, false, recordOf)
  assert.deepEqual(rows[0], { id: 'a', call: a, goneMs: 100, record })
  // The call is first missing from a report, and then recorded.
  rows = nextRows(nextRows([], [a], 0, false, none), [], 100, false, none)
  assert.deepEqual(nextRows(rows, [], 200, false, recordOf), [{ id: 'a', call: a, goneMs: 100, record }])
  assert.deepEqual(nextRows([], [a], 0, false, recordOf), [])
})

const early = { receive_ms: null, queue_ms: null, ttfb_ms: null }
const retried = { receive_ms: 0, queue_ms: 0, retry_wait_ms: null, ttfb_ms: null }
const bars: readonly [what: string, call: Partial<LiveCall>, pieces: string][] = [
  ['is received', { ...early, state: 'receiving' }, 'receive 1.00'],
  ['is queued', { ...early, state: 'queued', receive_ms: 2000 }, 'receive 0.20, wait 0.80'],
  [
    'awaits its answer',
    { ...early, state: 'waiting', receive_ms: 0, queue_ms: 4000 },
    'wait 0.40, first 0.60',
  ],
  [
    'streams',
    { ...retried, queue_ms: 1000, ttfb_ms: 2000, ttft_ms: 4000 },
    'wait 0.10, first 0.40, stream 0.50',
  ],
  ['has no tokens', { receive_ms: 0, queue_ms: 1000, ttfb_ms: 2000 }, 'wait 0.10, first 0.20, stream 0.70'],
  ['is tried again', { ...retried, state: 'backing_off' }, 'wait 1.00'],
  ['waits for a slot again', { ...retried, state: 'queued', queue_place: 1 }, 'wait 1.00'],
]

for (const [what, rest, pieces] of bars) {
  test(`the bar of a call that ${what}`, () => {
    const shown = barPieces(timedAt(call('a', rest), startMs + 10_000), 10_000)
    assert.equal(shown.map(({ part, length }) => `${part} ${length.toFixed(2)}`).join(', '), pieces)
  })
}

test('calls are counted by their state, and a cancel says what it does', () => {
  const calls = [call('a'), call('b', { state: 'queued' }), call('c')]
  assert.equal(boardWords(calls), '2 streaming, 1 queued')
  assert.equal(boardWords([]), '')
  const points = (one: LiveCall, goneMs: number | null = null): string =>
    cancelPoints({ id: one.id, call: one, goneMs, record: null })[0]!
  assert.match(points(call('a', { chunks: 7 })), /stops after 7 chunks/)
  assert.match(points(calls[1]!), /503/)
  assert.match(points(call('a'), 5), /already ended/)
})
