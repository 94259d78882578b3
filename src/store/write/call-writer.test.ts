import assert from 'node:assert/strict'
import type { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { rowsOf } from '../../../test/store/rows-of.ts'
import { bareCall, callStart, chatCall, fullCall, sampleStartMs } from '../../../test/store/sample-call.ts'
import { makeTempDir } from '../../../test/support/temp-dir.ts'
import { idsPerMs } from '../../call/call-id.ts'
import type { StoredCall } from '../../call/call-record.ts'
import { CallWriter, type WriteResult } from './call-writer.ts'
import { checkStore } from '../jobs/check-store.ts'
import { HistoryWriter } from './history-writer.ts'
import { interruptedCall } from './recover-calls.ts'
import { openForWriting } from '../sqlite/open-store.ts'
import { BatchEncoder, Dictionary } from './record-batch.ts'
import { Summing } from '../rollup/summing.ts'

const firstId = sampleStartMs * idsPerMs
const firstMinute = sampleStartMs / 60_000

async function withStore(work: (store: Store) => void): Promise<void> {
  await using dir = await makeTempDir()
  const database = openForWriting(dir.file('calls.db'))
  try {
    work(new Store(dir.file('calls.db'), database))
  } finally {
    database.close()
  }
}

class Store {
  readonly path: string
  readonly database: DatabaseSync
  readonly encoder = new BatchEncoder()
  readonly words = new Dictionary()
  readonly writer: CallWriter
  constructor(path: string, database: DatabaseSync) {
    this.path = path
    this.database = database
    this.writer = new CallWriter(database, this.words)
  }
  write(...calls: readonly StoredCall[]): WriteResult {
    const batch = this.encoder.encode(calls)
    this.words.accept(batch)
    return this.writer.write(batch)
  }
  rows(sql: string): readonly unknown[] {
    return rowsOf(this.database, sql)
  }
}

test('tokens count in the minute in which a call ended', () =>
  withStore((store) => {
    const call = (id: number, durationMs: number, inputTokens: number | null): StoredCall => ({
      ...chatCall(id),
      durationMs,
      inputTokens,
      outputTokens: 1,
    })
    store.write(call(firstId, 59_999.999, 10), call(firstId + 1, 60_000, 20), call(firstId + 2, 0, null))
    store.write(call(firstId + 3, 61_000, 40))
    assert.deepEqual(store.rows('SELECT * FROM budget_minutes'), [
      { minute: firstMinute, tokens: 12 },
      { minute: firstMinute + 1, tokens: 62 },
    ])
    const history = new HistoryWriter(store.database, { instance: 'a', version: '1' })
    assert.deepEqual(history.usage({ fromMinute: firstMinute + 1, sinceMs: undefined }), [
      { minute: firstMinute + 1, tokens: 62, estimated: 0 },
    ])
  }))

test('a batch that is written again adds no row, no token and no seq', () =>
  withStore((store) => {
    const unknown = { inputTokens: null, outputTokens: null, totalTokens: null, usageSource: 'none' } as const
    const estimated = { ...chatCall(firstId + 1), ...unknown }
    const batch = store.encoder.encode([chatCall(firstId), estimated])
    store.words.accept(batch)
    assert.deepEqual(store.writer.write(batch), { written: 2, dropped: 0, conflicts: 0 })
    const counted = (): readonly unknown[] =>
      ['budget_minutes', 'budget_estimates'].flatMap((table) => store.rows(`SELECT * FROM ${table}`))
    const before = counted()
    assert.equal(before.length, 2)
    assert.deepEqual(store.writer.write(batch), { written: 2, dropped: 0, conflicts: 0 })
    assert.deepEqual(counted(), before)
    store.write(chatCall(firstId - 5))
    const ids = store.rows('SELECT id FROM calls ORDER BY seq')
    assert.deepEqual(ids, [{ id: firstId }, { id: firstId + 1 }, { id: firstId - 5 }])
    assert.deepEqual(store.rows('SELECT max(seq) AS seq FROM calls'), [{ seq: 3 }])
  }))

test('the tags of a set are noted once, also in a batch that is written again', () =>
  withStore((store) => {
    const tags = 'env:prod,user:a “b”,env:prod'
    const calls = [1, 2, 3].map((index) =>
      Object.assign(chatCall(firstId + index), { tags: index === 3 ? null : tags }),
    )
    store.write(...calls)
    store.write(...calls)
    store.write({ ...chatCall(firstId + 4), tags: 'env:prod' })
    const noted = store.rows(`SELECT s.text AS tags, t.text AS tag FROM tags_in_sets
      JOIN tag_sets AS s ON s.id = set_id JOIN tags AS t ON t.id = tag_id ORDER BY 1, 2`)
    const own = ['env:prod', 'user:a “b”'].map((tag) => ({ tags, tag }))
    assert.deepEqual(noted, [{ tags: 'env:prod', tag: 'env:prod' }, ...own])
  }))

test('a call that the table cannot hold is dropped and counted; the others stand', () =>
  withStore((store) => {
    const broken = { ...chatCall(firstId + 1), requestBytes: Number.NaN }
    const result = store.write(chatCall(firstId), broken, chatCall(firstId + 2))
    assert.deepEqual(result, { written: 2, dropped: 1, conflicts: 0 })
    assert.deepEqual(store.rows('SELECT seq FROM calls'), [{ seq: 1 }, { seq: 2 }])
  }))

test("a call whose id another call has is dropped and counted as a conflict; the other's row stays", () =>
  withStore((store) => {
    const call = chatCall(firstId)
    store.write(call)
    const before = store.rows('SELECT * FROM calls')
    const others = [
      { ...call, instance: 'other' },
      { ...call, durationMs: call.durationMs + 1 },
      { ...call, outcome: 'upstream_cut' as const },
    ]
    assert.deepEqual(store.write(...others, chatCall(firstId + 1)), { written: 1, dropped: 3, conflicts: 3 })
    assert.deepEqual(store.rows('SELECT * FROM calls WHERE seq = 1'), before)
  }))

test('what was estimated of a call that seemed to be cut off is taken back with its row', () =>
  withStore((store) => {
    const estimates = (): readonly unknown[] => store.rows('SELECT * FROM budget_estimates')
    const begun = { ...callStart(firstId), requestBytes: 402 }
    store.write(interruptedCall(begun, chatCall(firstId).instance))
    assert.deepEqual(estimates(), [{ minute: firstMinute, tokens: 101 }])
    store.write({ ...chatCall(firstId), requestBytes: 402 })
    assert.deepEqual(estimates(), [{ minute: firstMinute, tokens: 0 }])
  }))

test('what became of a call takes the place of its row as interrupted, and not the other way round', () =>
  withStore((store) => {
    const call = chatCall(firstId)
    const cut = interruptedCall(callStart(firstId), call.instance)
    const stranger = interruptedCall(callStart(firstId), 'other')
    assert.deepEqual(store.write(cut), { written: 1, dropped: 0, conflicts: 0 })
    assert.deepEqual(store.write(call), { written: 1, dropped: 0, conflicts: 0 })
    const rows = store.rows('SELECT id, outcome_id, duration_us, seq FROM calls')
    assert.deepEqual(rows, [{ id: firstId, outcome_id: 0, duration_us: call.durationMs * 1000, seq: 2 }])
    assert.deepEqual(store.write(cut), { written: 1, dropped: 0, conflicts: 0 })
    assert.deepEqual(store.write(stranger), { written: 0, dropped: 1, conflicts: 1 })
    assert.deepEqual(store.rows('SELECT id, outcome_id, duration_us, seq FROM calls'), rows)
    const tokens = (call.inputTokens ?? 0) + (call.outputTokens ?? 0)
    assert.deepEqual(store.rows('SELECT sum(tokens) AS tokens FROM budget_minutes'), [{ tokens }])
  }))

test('the sums follow, of hours and of days, whether the call was added up by then or not', () =>
  withStore((store) => {
    const ids = [0, 1, 2, 3].map((index) => firstId + index * idsPerMs)
    const cut = ids.map((id) => interruptedCall(callStart(id), chatCall(id).instance))
    const rolls = new Summing(store.database)
    const rollUntil = (ms: number): void => {
      while (rolls.step(sampleStartMs + ms, 100));
    }
    const calls = ids.map((id) => chatCall(id))
    store.write(cut[0]!, cut[1]!)
    rollUntil(0)
    store.write(calls[0]!, cut[2]!)
    rollUntil(48 * 3_600_000)
    store.write(calls[1]!, calls[2]!, cut[3]!, calls[3]!)
    rollUntil(49 * 3_600_000)
    const report = checkStore(store.path, { full: true })
    assert.ok(typeof report === 'object')
    assert.deepEqual([report.calls, report.callsToAdd], [4, 0])
    assert.ok(report.hours.of > 0 && report.days.of > 0)
    assert.deepEqual([report.hours.wrongMs, report.days.wrongMs], [[], []])
    const sums =
      'SELECT sum(calls) AS calls, sum(errors) AS errors FROM sums WHERE grouping_id = 0 AND minutes = 1440'
    assert.deepEqual(store.rows(sums), [{ calls: 4, errors: 0 }])
  }))

test('after a rollback the words are looked up anew', () =>
  withStore((store) => {
    store.database.exec(
      "CREATE TRIGGER fail BEFORE INSERT ON budget_minutes BEGIN SELECT raise(FAIL, 'no'); END",
    )
    const batch = store.encoder.encode([chatCall(firstId)])
    store.words.accept(batch)
    assert.throws(() => store.writer.write(batch), /no/)
    assert.deepEqual(store.rows('SELECT * FROM models'), [])
    store.database.exec("DROP TRIGGER fail; INSERT INTO models VALUES (1, 'another')")
    store.writer.write(batch)
    assert.deepEqual(store.rows('SELECT model FROM calls_readable'), [{ model: 'gpt-5.1-mini' }])
  }))

test('more calls than one transaction takes, of many shapes, with renewed words', () =>
  withStore((store) => {
    const encoder = new BatchEncoder(50)
    const words = new Dictionary()
    const writer = new CallWriter(store.database, words)
    for (let batch = 0; batch < 60; batch++) {
      const calls = Array.from({ length: 40 }, (_, row) => {
        const id = firstId + batch * 1000 + row
        const call = [chatCall, fullCall, bareCall][(batch + row) % 3]!(id)
        return { ...call, session: `s${batch}-${row}`, stalls: batch % 2 === 0 ? null : 1 }
      })
      const encoded = encoder.encode(calls)
      words.accept(encoded)
      assert.deepEqual(writer.write(encoded), { written: 40, dropped: 0, conflicts: 0 })
    }
    const many = Array.from({ length: 1200 }, (_, row) => chatCall(firstId + 1e6 + row))
    assert.deepEqual(store.write(...many), { written: 1200, dropped: 0, conflicts: 0 })
    const wrong = store.rows(
      `SELECT seq FROM calls AS c JOIN sessions AS s ON s.id = c.session_id
        WHERE s.text <> printf('s%d-%d', (c.seq - 1) / 40, (c.seq - 1) % 40)`,
    )
    assert.deepEqual(wrong, [])
    assert.deepEqual(store.rows('SELECT count(*) AS n, max(seq) AS seq FROM calls'), [{ n: 3600, seq: 3600 }])
    assert.deepEqual(store.rows('SELECT count(*) AS n FROM sessions'), [{ n: 2400 }])
  }))

test("a minute's last word wins, an event is noted once", () =>
  withStore((store) => {
    const history = new HistoryWriter(store.database, { instance: 'a', version: '1' })
    const minute = { minute: 5, activeMax: 1, queuedMax: 2, atLimitMs: 3.4, admitted: 4, dropped: 0 }
    const event = { atMs: 9, kind: 'start', detail: null } as const
    history.write([minute], [event])
    history.write([{ ...minute, admitted: 7 }], [event, { ...event, kind: 'stop', detail: 'why' }])
    assert.deepEqual(store.rows('SELECT * FROM gateway_minutes'), [
      { minute: 5, instance_id: 1, active_max: 1, queued_max: 2, at_limit_ms: 3, admitted: 7, dropped: 0 },
    ])
    const events = store.rows(
      "SELECT group_concat(kind || ' ' || ifnull(detail, '-'), ', ') AS all_of FROM gateway_events",
    )
    assert.deepEqual(events, [{ all_of: 'start -, stop why' }])
    assert.deepEqual(store.rows('SELECT text, version FROM instances'), [{ text: 'a', version: '1' }])
  }))
