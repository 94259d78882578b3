import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bareCall, chatCall, fullCall, sampleStartMs } from '../../test/store/sample-call.ts'
import { makeTempDir } from '../../test/support/temp-dir.ts'
import { formatCallId, idsPerMs } from '../call/call-id.ts'
import type { CallFilter, CallReader } from '../call/call-reader.ts'
import { openCallReader } from './call-query.ts'
import { CallWriter } from './call-writer.ts'
import { openForWriting } from './open-store.ts'
import { BatchEncoder, WordList } from './record-batch.ts'

const idAt = (ms: number): number => (sampleStartMs + ms) * idsPerMs

/** Five calls, ended in another order than they began. */
async function withReader(work: (reader: CallReader) => void): Promise<void> {
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
  const reader = openCallReader(dir.file('calls.db'))
  assert.ok(typeof reader !== 'string')
  try {
    work(reader)
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
  [{ models: ['b'] }, [2]],
  [{ models: ['b', 'gpt-5.1-mini'] }, [5, 4, 2, 1]],
  [{ models: ["' OR 1 --"] }, []],
  [{ models: [] }, []],
  [{ callTypes: ['embedding', 'other'] }, [4, 3]],
  [{ outcomes: ['client_disconnected'] }, [5]],
  [{ failedOnly: true }, [4, 3, 1]],
  [{ failedOnly: false }, [5, 4, 3, 2, 1]],
  [{ failedOnly: true, models: ['gpt-5.1-mini'], toMs: sampleStartMs + 4 }, [1]],
]
for (const [filter, expected] of filters) {
  test(`newest first: ${JSON.stringify(filter)}`, () =>
    withReader((reader) => {
      assert.deepEqual(milliseconds(reader.list(filter, { limit: 10 })), expected)
      const ended = reader.endedSince(0, filter, 10)
      assert.deepEqual(
        milliseconds(ended.calls).toSorted((a, b) => a - b),
        expected.toReversed(),
      )
      assert.equal(ended.lastSeq, 5)
    }))
}

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
    assert.deepEqual(reader.endedSince(0, { models: ['b'] }, 9).lastSeq, 5)
  }))

test('a full call comes back whole', () =>
  withReader((reader) => {
    const [call] = reader.list({ outcomes: ['upstream_error'] }, { limit: 1 })
    assert.deepEqual(
      { ...call },
      {
        id: formatCallId(idAt(1)),
        started_at: '2026-11-21T04:00:00.001Z',
        call_type: 'rerank',
        endpoint: '/v1/chat/completions',
        method: 'PUT',
        stream: true,
        model: 'gpt-5.1-mini',
        response_model: 'gpt-5.1-mini-2026-08-01',
        service_tier: 'default',
        upstream: 'api.openai.com',
        instance: 'k3v9',
        status: 502,
        outcome: 'upstream_error',
        failed: true,
        failure_code: 'upstream_timeout',
        upstream_error_code: 'overloaded',
        error_message: 'It said "no" – and 😀',
        finish_reason: 'stop',
        attempts: 2,
        client_retry: 3,
        receive_ms: 1.001,
        queue_ms: 2.002,
        retry_wait_ms: 3.003,
        connect_ms: 4.004,
        ttfb_ms: 5.005,
        ttft_ms: 6.006,
        ttfo_ms: 7.007,
        duration_ms: 8.008,
        overhead_ms: 9.009,
        tpot_ms: 10.01,
        output_tokens_per_s: 1000 / 10.01,
        chunks: 11,
        gap_p50_ms: 12.012,
        gap_p95_ms: 13.013,
        gap_max_ms: 14.014,
        stalls: 15,
        input_tokens: 16,
        output_tokens: 17,
        cached_input_tokens: 18,
        cache_write_tokens: 19,
        cache_write_1h_tokens: 20,
        input_audio_tokens: 21,
        output_audio_tokens: 22,
        reasoning_tokens: 23,
        total_tokens: 24,
        usage_source: 'timings',
        request_bytes: 25,
        response_bytes: 26,
        search_units: 27,
        upstream_request_id: 'req_28',
        upstream_queue_ms: 29.029,
        upstream_prompt_ms: 30.03,
        upstream_decode_ms: 31.031,
        client: 'openai-python',
        key_fingerprint: 'ffffffff',
        user_agent: 'OpenAI/Python 2.9.0',
        session: 'a session',
        cost_usd: 3.2e-8,
        price_source: 'snapshot',
        price_key: 'openai/gpt-5.1-mini',
      },
    )
  }))

test('what is not known is null, and zero stays zero', () =>
  withReader((reader) => {
    const [call] = reader.list({ outcomes: ['refused'] }, { limit: 1 })
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
