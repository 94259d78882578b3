/** Strangers ask for models, and name clients, that they make up: each answer stays bounded, and what is used shows. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sumAll } from '../../bench/generate/add-past.ts'
import type { CallRecord } from '../../src/call/call-record.ts'
import { PricesInForce } from '../../src/pricing/prices-in-force.ts'
import { answerQuestion } from '../../src/query/answer-question.ts'
import type { QueryQuestion } from '../../src/query/query-question.ts'
import { openCallReader } from '../../src/store/read/call-query.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { chatCall, idAt, sampleStartMs } from './sample-call.ts'
import { writeCalls } from './write-calls.ts'

const names = 6000
const used = 200
const nowMs = sampleStartMs + 2 * 3_600_000
const mostBytes = 2_500_000

function callAt(index: number, fields: Partial<CallRecord>): CallRecord {
  return { ...chatCall(idAt(500 * index)), ...fields }
}

test('of six thousand long names in each field no answer is larger than a few megabytes', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('calls.db')
  const database = openForWriting(path)
  const long = 'x'.repeat(1900)
  for (let at = 0; at < names; at += 1000) {
    writeCalls(
      database,
      Array.from({ length: 1000 }, (_, index) => {
        const name = `${at + index}-${long}`
        return callAt(at + index, {
          model: `m${name}`,
          responseModel: null,
          client: `c${name}`,
          endpoint: `/${name}`,
        })
      }),
    )
  }
  writeCalls(
    database,
    Array.from({ length: used }, (_, index) => callAt(names + index, { model: 'in-use', client: 'worker' })),
  )
  sumAll(database, nowMs)
  database.close()

  const store = openCallReader(path)
  assert.ok(typeof store === 'object')
  const sources = { store, note: null, prices: new PricesInForce(path) }
  const filter = { fromMs: sampleStartMs - 3_600_000, toMs: nowMs }
  const answerTo = async (question: QueryQuestion): Promise<Record<string, unknown>> => {
    const { text } = await answerQuestion(sources, question, nowMs)
    assert.ok(String(text).length < mostBytes, `${question.kind}: ${String(text).length} bytes`)
    return JSON.parse(String(text)) as Record<string, unknown>
  }
  const common = { filter, timeZone: 'UTC', format: 'json' } as const
  const order = { sort: 'started_at', rising: false, beforeId: null } as const
  const list = await answerTo({ ...common, kind: 'list', limit: 10, ...order })
  const models = list['available_models'] as readonly string[]
  assert.deepEqual([models.includes('in-use'), models.length <= 500], [true, true])
  const overview = await answerTo({ ...common, kind: 'overview', notes: [] })
  assert.equal((overview['models'] as readonly { readonly model: string }[])[0]?.model, 'in-use')
  for (const dimension of ['model', 'client', 'endpoint'] as const) {
    for (const time of ['hour', null] as const) {
      const { groups, summary } = (await answerTo({
        ...common,
        kind: 'groups',
        time,
        dimension,
        measures: null,
      })) as {
        readonly groups: readonly { readonly calls: number; readonly rest?: true }[]
        readonly summary: { readonly calls: number }
      }
      assert.equal(summary.calls, names + used)
      assert.equal(
        groups.reduce((sum, { calls }) => sum + calls, 0),
        names + used,
      )
      assert.ok(groups.some(({ rest }) => rest))
    }
  }
  await answerTo({ kind: 'matches', fromMs: filter.fromMs, toMs: filter.toMs, fileState: '' })
  const { clients } = (await answerTo({ kind: 'clients', fromMs: filter.fromMs })) as {
    readonly clients: readonly { readonly client: string }[]
  }
  assert.equal(clients[0]?.client, 'worker')
  await answerTo({ kind: 'alerts', afterSeq: null })
  store.close()
})
