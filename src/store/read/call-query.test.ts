import assert from 'node:assert/strict'
import type { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { bareCall, chatCall, fullCall, sampleStartMs } from '../../../test/store/sample-call.ts'
import { makeTempDir } from '../../../test/support/temp-dir.ts'
import { storedFields } from '../../call/call-fields.ts'
import { formatCallId, idsPerMs } from '../../call/call-id.ts'
import type { CallFilter } from '../../call/call-filter.ts'
import type { CallReader, CallSort } from '../../call/call-reader.ts'
import { QueryTooSlow } from '../../call/query-too-slow.ts'
import { openCallReader } from './call-query.ts'
import { CallWriter } from '../write/call-writer.ts'
import { openForWriting } from '../sqlite/open-store.ts'
import { BatchEncoder, WordList } from '../write/record-batch.ts'
import { RollForward } from '../rollup/roll-forward.ts'

const idAt = (ms: number): number => (sampleStartMs + ms) * idsPerMs

/** Five calls, ended in another order than they began. */
async function withReader(
  work: (reader: CallReader, database: DatabaseSync) => void,
  { isRolled = false, isOver = () => false }: { isRolled?: boolean; isOver?: () => boolean } = {},
): Promise<void> {
  await using dir = await makeTempDir()
  const database = openForWriting(dir.file('calls.db'))
  const words = new WordList()
  const batch = new BatchEncoder().encode([
    { ...chatCall(idAt(2)), model: 'b' },
    fullCall(idAt(1)),
    bareCall(idAt(3)),
    { ...chatCall(idAt(5)), outcome: 'client_disconnected' },
    { ...chatCall(idAt(4)), callType: 'embedding', outcome: 'upstream_cut' },
  ])
  words.accept(batch)
  new CallWriter(database, words).write(batch)
  const forward = new RollForward(database)
  if (isRolled) for (let more = true; more;) more = forward.step(sampleStartMs + 100 * 3_600_000, 2)
  const reader = openCallReader(dir.file('calls.db'), isOver)
  assert.ok(typeof reader !== 'string')
  try {
    work(reader, database)
  } finally {
    reader.close()
    database.close()
  }
}

const milliseconds = (calls: readonly { started_at: string }[]): number[] =>
  calls.map((call) => Date.parse(call.started_at) - sampleStartMs)

const filters: readonly [CallFilter, number[]][] = [
  [{}, [5, 4, 3, 2, 1]],
  [{ fromMs: sampleStartMs + 2, toMs: sampleStartMs + 4 }, [3, 2]],
  [{ fromMs: sampleStartMs + 1.5 }, [5, 4, 3, 2]],
  [{ model: ['b'] }, [2]],
  [{ model: ['b', 'gpt-5.1-mini'] }, [5, 4, 2, 1]],
  [{ model: ["' OR 1 --"] }, []],
  [{ model: [] }, []],
  [{ call_type: ['embedding', 'other'] }, [4, 3]],
  [{ outcome: ['client_disconnected'] }, [5]],
  [{ failedOnly: true }, [4, 3, 1]],
  [{ failedOnly: false }, [5, 4, 3, 2, 1]],
  [{ failedOnly: true, model: ['gpt-5.1-mini'], toMs: sampleStartMs + 4 }, [1]],
  [{ failedOnly: true, outcome: ['ok', 'refused'] }, [3]],
  [{ status: [502, 200] }, [5, 4, 2, 1]],
  [{ client: ['openai-python'], endpoint: ['/v1/files'] }, []],
  [{ endpoint: ['/v1/files'] }, [3]],
  [{ failure_code: ['upstream_timeout'] }, [1]],
  [{ exactly: 'overloaded' }, [1]],
  [{ exactly: 'upstream_timeout' }, [1]],
  [{ exactly: formatCallId(idAt(3)) }, [3]],
  [{ exactly: formatCallId(idAt(3)), model: ['b'] }, []],
  [{ exactly: 'nothing of the kind' }, []],
  [{ min_ms: 0, max_ms: 8.008 }, [3, 1]],
  [{ min_ms: 8.009 }, [5, 4, 2]],
]
for (const [filter, expected] of filters)
  for (const isRolled of [false, true]) {
    test(`newest first: ${JSON.stringify(filter)}${isRolled ? ', rolled up' : ''}`, () =>
      withReader(
        (reader) => {
          assert.deepEqual(milliseconds(reader.list(filter, { limit: 10 })), expected)
          const ended = reader.endedSince(0, filter, 10)
          assert.deepEqual(
            milliseconds(ended.calls).toSorted((a, b) => a - b),
            expected.toReversed(),
          )
          assert.equal(ended.lastSeq, 5)
        },
        { isRolled },
      ))
  }

test('the largest first, without those that have no value', () =>
  withReader((reader) => {
    const of = (sort: CallSort, limit = 9): number[] => milliseconds(reader.list({}, { limit, sort }))
    assert.equal(of('duration').at(-1), 3)
    assert.equal(of('ttft').length, 4)
    assert.deepEqual(of('cost').at(-1), 1)
    assert.deepEqual(of('cost', 1), [5])
    assert.deepEqual(
      milliseconds(reader.list({ failedOnly: true }, { limit: 9, sort: 'duration' })),
      [4, 1, 3],
    )
  }))

test('one call, the choices of a filter, and how far calls reach', () =>
  withReader((reader) => {
    assert.equal(reader.call(idAt(3))?.endpoint, '/v1/files')
    assert.equal(reader.call(idAt(9)), null)
    assert.deepEqual(reader.choices().models, ['b', 'gpt-5.1-mini'])
    assert.deepEqual(reader.extent(), { firstMs: sampleStartMs + 1, lastMs: sampleStartMs + 5 })
  }))

test('a reader that is told to stop stops', () =>
  withReader(
    (reader) => {
      const edgesMs = [sampleStartMs, sampleStartMs + 3_600_000]
      assert.throws(() => reader.aggregate({ filter: { min_ms: 1 }, edgesMs, dimension: null }), QueryTooSlow)
      assert.throws(() => reader.list({ min_ms: 1 }, { limit: 1 }), QueryTooSlow)
      assert.throws(() => reader.list({}, { limit: 1, sort: 'ttft' }), QueryTooSlow)
      assert.equal(reader.list({}, { limit: 9 }).length, 5)
    },
    { isOver: () => true },
  ))

test('what was folded is answered in quarter hours, or refused with the first instant that is not', () =>
  withReader(
    (reader, database) => {
      const foldedMs = sampleStartMs + 3_600_000
      database.exec(`DELETE FROM calls; UPDATE rollup_state SET folded_until = ${foldedMs / 900_000}`)
      assert.equal(reader.foldedUntilMs(), foldedMs)
      const inside = [sampleStartMs + 4, foldedMs + 5]
      const { summary } = reader.aggregate({ filter: {}, edgesMs: inside, dimension: 'model' })
      assert.equal(summary.calls, 5)
      const refused = { name: 'FoldedRange', unfoldedFromMs: foldedMs }
      const minutes = [sampleStartMs, sampleStartMs + 60_000, foldedMs]
      assert.throws(() => reader.aggregate({ filter: {}, edgesMs: minutes, dimension: null }), refused)
      assert.throws(
        () => reader.aggregate({ filter: { min_ms: 1 }, edgesMs: inside, dimension: null }),
        refused,
      )
      assert.deepEqual(reader.extent(), { firstMs: sampleStartMs, lastMs: foldedMs - 1 })
      assert.deepEqual(reader.choices().models, ['b', 'gpt-5.1-mini'])
    },
    { isRolled: true },
  ))

test('entries beyond the top are put together, also in each bucket', () =>
  withReader((reader) => {
    const edgesMs = [1, 3, 6].map((ms) => sampleStartMs + ms)
    const { groups } = reader.aggregate({ filter: {}, edgesMs, dimension: 'model', top: 1 })
    assert.deepEqual(
      groups.map(({ bucket, entry, isRest, figures }) => [bucket, entry, isRest, figures.calls]),
      [
        [0, 'gpt-5.1-mini', false, 1],
        [0, null, true, 1],
        [1, 'gpt-5.1-mini', false, 2],
        [1, null, true, 1],
      ],
    )
  }))

test('pages join without gap or overlap', () =>
  withReader((reader) => {
    assert.deepEqual(milliseconds(reader.list({}, { limit: 2 })), [5, 4])
    assert.deepEqual(milliseconds(reader.list({}, { limit: 2, beforeId: idAt(4) })), [3, 2])
    assert.deepEqual(milliseconds(reader.list({}, { limit: 2, beforeId: idAt(2) })), [1])
  }))

test('a follower gets each call once, in the order of their ends', () =>
  withReader((reader) => {
    const first = reader.endedSince(0, {}, 2)
    assert.deepEqual(milliseconds(first.calls), [2, 1])
    const second = reader.endedSince(first.lastSeq, {}, 9)
    assert.deepEqual(milliseconds(second.calls), [3, 5, 4])
    assert.deepEqual(reader.endedSince(second.lastSeq, {}, 9), { calls: [], lastSeq: 5 })
    assert.equal(reader.lastSeq(), 5)
    assert.deepEqual(reader.endedSince(0, { model: ['b'] }, 9).lastSeq, 5)
  }))

test('a full call comes back whole', () =>
  withReader((reader) => {
    const [call] = reader.list({ outcome: ['upstream_error'] }, { limit: 1 })
    const full = fullCall(idAt(1))
    const stored = storedFields.map(({ name, record, kind }) => [
      name,
      kind === 'cost' ? Number(full[record]) / 1e9 : full[record],
    ])
    const { receiveMs, queueMs, retryWaitMs, ttftMs, tpotMs } = full
    assert.deepEqual(
      { ...call },
      {
        ...Object.fromEntries(stored),
        id: formatCallId(idAt(1)),
        started_at: '2026-11-21T04:00:00.001Z',
        failed: true,
        ttft_total_ms: Math.round((receiveMs! + queueMs! + retryWaitMs! + ttftMs!) * 1000) / 1000,
        output_tokens_per_s: 1000 / tpotMs!,
      },
    )
  }))

test('what is not known is null, and zero stays zero', () =>
  withReader((reader) => {
    const [call] = reader.list({ outcome: ['refused'] }, { limit: 1 })
    const { id, started_at, ...rest } = { ...call }
    assert.equal(id, formatCallId(idAt(3)))
    assert.equal(started_at, '2026-11-21T04:00:00.003Z')
    const known = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null))
    assert.deepEqual(known, {
      call_type: 'other',
      endpoint: '/v1/files',
      method: 'GET',
      stream: false,
      instance: 'k3v9',
      outcome: 'refused',
      failed: true,
      attempts: 0,
      duration_ms: 0,
      usage_source: 'none',
      request_bytes: 0,
      response_bytes: 0,
    })
  }))
