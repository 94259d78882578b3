import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { formatCallId } from '../../src/call/call-id.ts'
import { storedFields } from '../../src/call/fields/call-fields.ts'
import type { StoredCall } from '../../src/call/call-record.ts'
import type { ObserverModule } from '../../src/call/row-observer.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { HistoryWriter } from '../../src/store/write/history-writer.ts'
import { OpenCalls } from '../../src/store/write/open-calls.ts'
import { WriterThread } from '../../src/store/write/writer-thread.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { readCalls } from '../support/recorded-calls.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { bareCall, callStart, chatCall, fullCall, idAt } from './sample-call.ts'
import type { Script } from './scripted-observer.ts'
import { eventually } from '../support/eventually.ts'

const url = new URL('./scripted-observer.ts', import.meta.url).href
const observer = (name: string, settings: Script): ObserverModule => ({ name, url, settings })

function writerIn(dir: TempDir, instance: string, observers: readonly ObserverModule[]): WriterThread {
  return new WriterThread({ dbPath: dir.file('calls.db'), instance, version: '0', observers })
}

/** The calls that were told, and whether the end was, after them. */
function noted(path: string): { calls: StoredCall[]; isClosed: boolean } {
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  const isClosed = lines.at(-1) === 'closed'
  return { calls: (isClosed ? lines.slice(0, -1) : lines).map((line) => JSON.parse(line)), isClosed }
}

const codes = (writer: WriterThread): string[] => writer.warnings().map(({ code }) => code)

test('each row is told once, as it was recorded and with its cost', async () => {
  await using dir = await makeTempDir()
  const notes = dir.file('notes')
  const writer = writerIn(dir, 'a', [observer('one', { notes })])
  const full = { ...fullCall(idAt(1)), costNanoUsd: 42, priceSource: 'upstream', priceKey: 'x' }
  const chat = {
    ...chatCall(idAt(2)),
    upstream: 'api.openai.com',
    costNanoUsd: null,
    priceSource: null,
    priceKey: null,
  }
  const bare = bareCall(idAt(3))
  for (const call of [full, chat, bare, bare]) writer.finish(call)
  await eventually('all are written', () => writer.figures().written === 4)
  assert.equal(await writer.ask('one', 'how many?'), 'how many? 3')
  assert.equal(await writer.ask('another', 'how many?'), null)
  assert.deepEqual(codes(writer), ['script_runs'])
  await writer.close()
  const { calls, isClosed } = noted(notes)
  assert.ok(isClosed)
  const [toldFull, toldChat, toldBare] = calls
  assert.deepEqual(fieldsOf(calls, 'id'), [full.id, chat.id, bare.id])
  for (const [told, sent] of [
    [toldFull!, full],
    [toldBare!, bare],
  ] as const) {
    for (const { record, kind } of storedFields) {
      const value = sent[record]
      const exact = kind === 'time' && value !== null ? Math.round(Number(value) * 1000) / 1000 : value
      assert.deepEqual(told[record], exact, record)
    }
  }
  const row = readCalls(dir.file('calls.db')).find(({ id }) => id === formatCallId(chat.id))
  assert.ok(toldChat!.costNanoUsd! > 0)
  assert.equal(toldChat!.costNanoUsd! / 1e9, row?.cost_usd)
  assert.deepEqual([toldChat!.priceSource, toldChat!.priceKey], [row?.price_source, row?.price_key])
})

test('calls that a dead gateway left are told by the one that makes them rows', async () => {
  await using dir = await makeTempDir()
  {
    using database = openForWriting(dir.file('calls.db'))
    const open = new OpenCalls()
    open.begin(callStart(idAt(1)))
    open.tick()
    open.tick()
    // With a number whose lock nobody holds.
    new HistoryWriter(database, { instance: 'a', version: '1', number: 5 }).write([], [], open.dueRows())
  }
  const notes = dir.file('notes')
  const writer = writerIn(dir, 'b', [observer('one', { notes })])
  // Calls of dead gateways are looked for before anything else is done.
  await writer.usageByMinute(0)
  await writer.close()
  assert.deepEqual(fieldsOf(noted(notes).calls, 'outcome'), ['interrupted'])
})

for (const failsIn of ['load', 'recorded', 'answer'] as const) {
  test(`an observer that throws in ${failsIn} is detached with a warning; the writer and the others go on`, async () => {
    await using dir = await makeTempDir()
    const notes = dir.file('notes')
    const bad = observer('bad', { failsIn, notes: dir.file('bad') })
    const writer = writerIn(dir, 'a', [bad, observer('good', { notes })])
    writer.finish(chatCall(idAt(1)))
    await eventually('a row', () => writer.figures().written === 1)
    assert.equal(await writer.ask('bad', '?'), null)
    const failed = writer.warnings().filter(({ code }) => code === 'observer_failed')
    assert.equal(failed.length, 1)
    assert.match(failed[0]!.message, /^bad failed and is off until the next start.*it (cannot|does not)/)
    writer.finish(chatCall(idAt(2)))
    await eventually('another', () => writer.figures().written === 2)
    assert.equal(await writer.ask('good', '?'), '? 2')
    await writer.close()
    assert.deepEqual(writer.figures(), { written: 2, pending: 0, dropped: 0 })
    assert.ok(noted(notes).isClosed)
  })
}
