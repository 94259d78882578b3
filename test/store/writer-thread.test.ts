import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { formatCallId } from '../../src/call/call-id.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import type { CallReader } from '../../src/call/call-reader.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { readCalls } from '../support/recorded-calls.ts'
import { openCallReader } from '../../src/store/read/call-query.ts'
import { schemaVersion } from '../../src/store/sqlite/schema.ts'
import { takeInstanceNumber } from '../../src/store/sqlite/instance-number.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import type { ToWriter } from '../../src/store/write/writer-messages.ts'
import { WriterThread, type WriterThreadOptions } from '../../src/store/write/writer-thread.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { bareCall, callStart, chatCall, fullCall, idAt, sampleStartMs } from './sample-call.ts'
import { eventually } from '../support/eventually.ts'
import { assertWithin } from '../support/assert-within.ts'
import { openCallIds } from '../support/open-calls.ts'

function writerIn(dir: TempDir, options: Partial<WriterThreadOptions> = {}): WriterThread {
  return new WriterThread({
    dbPath: dir.file('data/calls.db'),
    instance: 'k3v9',
    version: '0.1.0',
    closeTimeoutMs: 60_000,
    ...options,
  })
}

/** Starts the thread as the product does, and keeps it for a test to end. */
function keptIn(workers: Worker[]): NonNullable<WriterThreadOptions['startWorker']> {
  const file = new URL('../../src/store/write/writer-worker.ts', import.meta.url)
  return (settings) => workers[workers.push(new Worker(file, { workerData: settings })) - 1]!
}

function readerOf(dir: TempDir, name = 'data/calls.db'): CallReader {
  const reader = openCallReader(dir.file(name))
  assert.ok(typeof reader !== 'string')
  return reader
}

function callsIn(dir: TempDir): readonly CallJson[] {
  return readCalls(dir.file('data/calls.db')).toReversed()
}

const codes = (writer: WriterThread): string[] => writer.warnings().map((warning) => warning.code)

test('calls become rows, whatever they hold; close leaves one tidy file', async () => {
  await using dir = await makeTempDir()
  const writer = writerIn(dir)
  const [full, chat] = [fullCall(idAt(1)), chatCall(idAt(2))]
  writer.begin(chat)
  writer.begin(full)
  writer.finish(chat)
  writer.finish(full)
  writer.finish(bareCall(idAt(3)))
  assert.deepEqual(writer.figures(), { written: 0, pending: 3, dropped: 0 })
  writer.minute({ minute: 1, activeMax: 1, queuedMax: 0, atLimitMs: 0, admitted: 3, dropped: 0 })
  writer.event({ atMs: sampleStartMs, kind: 'start', detail: null })
  await writer.close()
  assert.deepEqual(writer.figures(), { written: 3, pending: 0, dropped: 0 })
  assert.deepEqual(writer.warnings(), [])
  assert.deepEqual(readdirSync(dir.file('data')), ['calls.db', 'model_costs.json'])
  assert.equal(statSync(dir.file('data/calls.db')).mode & 0o777, 0o600)
  assert.deepEqual(
    fieldsOf(callsIn(dir), 'id'),
    [3, 2, 1].map((ms) => formatCallId(idAt(ms))),
  )
})

test('calls are read while they are recorded, in the order in which they ended', async () => {
  await using dir = await makeTempDir()
  const writer = writerIn(dir)
  for (const ms of [3, 1, 2]) writer.finish(chatCall(idAt(ms)))
  await eventually('three rows', () => writer.figures().written === 3)
  const reader = readerOf(dir)
  const first = await reader.endedSince(0, {}, 10)
  assert.deepEqual(
    fieldsOf(first.calls, 'id'),
    [3, 1, 2].map((ms) => formatCallId(idAt(ms))),
  )
  writer.finish(chatCall(idAt(0)))
  await eventually('a fourth', () => writer.figures().written === 4)
  assert.deepEqual(fieldsOf((await reader.endedSince(first.lastSeq, {}, 10)).calls, 'id'), [
    formatCallId(idAt(0)),
  ])
  reader.close()
  await writer.close()
})

test('what clients and keys used is answered, with calls that had just ended, and without later ones', async () => {
  await using dir = await makeTempDir()
  const writer = writerIn(dir)
  const other = { client: null, keyFingerprint: '0000000a' }
  writer.finish(chatCall(idAt(0)))
  writer.finish({ ...chatCall(idAt(1)), keyFingerprint: null })
  writer.finish({ ...chatCall(idAt(2)), ...other })
  writer.finish({ ...chatCall(idAt(3)), client: 'nobody’s', keyFingerprint: '0000000b' })
  // It is estimated what a stream used that broke off without usage.
  const unknown = { inputTokens: null, outputTokens: null, totalTokens: null, usageSource: 'none' } as const
  writer.finish({ ...chatCall(idAt(4)), ...other, ...unknown, outcome: 'client_disconnected' })
  writer.finish({ ...chatCall(idAt(3_600_000)), durationMs: 10 })
  const minute = sampleStartMs / 60_000
  const ofKey = 1369 + Math.ceil(5321 / 4) + 164
  const estimated = ofKey - 1369
  const usual = { client: 'openai-python', upstreamName: null, minute, tokens: 1369, estimated: 0 }
  const found = await writer.usageOfClients(['openai-python', '0000000a'], [], sampleStartMs + 3_600_000)
  assert.deepEqual(found, [
    { ...usual, keyFingerprint: 'a1b2c3d4' },
    { ...usual, keyFingerprint: null },
    { ...other, upstreamName: null, minute, tokens: ofKey, estimated },
  ])
  // An hour earlier, all of it had yet to end, and a day later it is over.
  assert.deepEqual(await writer.usageOfClients(['openai-python'], [], sampleStartMs), [])
  assert.deepEqual(await writer.usageOfClients(['openai-python'], [], sampleStartMs + 30 * 3_600_000), [])
  await writer.close()
  assert.equal(await writer.usageOfClients(['openai-python'], [], sampleStartMs), null)
})

test("the budget's minutes are answered, also what was asked before the database was open", async () => {
  await using dir = await makeTempDir()
  const first = writerIn(dir)
  first.finish(chatCall(idAt(0)))
  await first.close()
  const writer = writerIn(dir)
  const minute = sampleStartMs / 60_000
  assert.deepEqual(await writer.usageByMinute(minute - 10), [{ minute, tokens: 1369, estimated: 0 }])
  assert.deepEqual(await writer.usageByMinute(minute + 1), [])
  await writer.close()
  assert.equal(await writer.usageByMinute(0), null)
})

test('a call of which no record can be made is counted, warned of, and no row at the next start', async () => {
  await using dir = await makeTempDir()
  const writer = writerIn(dir)
  const call = callStart(idAt(0))
  writer.begin(call)
  writer.lose(call)
  writer.lose(null)
  assert.deepEqual(writer.figures(), { written: 0, pending: 0, dropped: 2 })
  assert.deepEqual(codes(writer), ['records_dropped'])
  await writer.close()
  const next = writerIn(dir)
  await next.usageByMinute(0)
  await next.close()
  assert.equal(callsIn(dir).length, 0)
})

test('a thread that dies is replaced, and its batch written once', async () => {
  await using dir = await makeTempDir()
  const workers: Worker[] = []
  const writer = writerIn(dir, { startWorker: keptIn(workers) })
  for (let ms = 0; ms < 2000; ms++) writer.finish(chatCall(idAt(ms)))
  await eventually('the first batch is written', () => writer.figures().written > 0)
  await Promise.all([once(workers[0]!, 'exit'), workers[0]!.terminate()])
  assert.deepEqual(codes(writer), ['writer_restarted'])
  const asked = writer.usageByMinute(0)
  for (let ms = 2000; ms < 3000; ms++) writer.finish(chatCall(idAt(ms)))
  await eventually('all rows', () => writer.figures().written === 3000)
  assert.ok((await asked)!.length > 0)
  assert.equal(workers.length, 2)
  assert.deepEqual(codes(writer), [])
  const tokens = (await writer.usageByMinute(0))!.reduce((sum, minute) => sum + minute.tokens, 0)
  assert.equal(tokens, 3000 * 1369)
  assert.equal(callsIn(dir).length, 3000)
  await writer.close()
})

test('a damaged file is kept beside, and recording goes on in a new one', async () => {
  await using dir = await makeTempDir()
  // A text would be somebody else's file.
  const text = 'This is no database at all.\0'.repeat(1000)
  const first = writerIn(dir)
  await first.close()
  writeFileSync(dir.file('data/calls.db'), text)
  const writer = writerIn(dir)
  writer.finish(chatCall(idAt(0)))
  await eventually('the row is written', () => writer.figures().written === 1)
  assert.deepEqual(codes(writer), ['database_damaged'])
  const kept = readdirSync(dir.file('data')).filter((name) => name.includes('.corrupt-'))
  assert.equal(kept.length, 1)
  assert.equal(readFileSync(dir.file(`data/${kept[0]}`), 'utf8'), text)
  await writer.close()
  assert.equal(callsIn(dir).length, 1)
})

test('a file that is overwritten with garbage while in use is kept beside, too', async () => {
  await using dir = await makeTempDir()
  const writer = writerIn(dir)
  for (let ms = 0; ms < 500; ms++) writer.finish(chatCall(idAt(ms)))
  await eventually('rows', () => writer.figures().written === 500)
  // Emptied into the file first, so that the garbage is what there is to read.
  const other = new DatabaseSync(dir.file('data/calls.db'), { timeout: 5000 })
  // While the sums are behind, the thread itself writes at any moment, also between these two steps.
  const sums = other.prepare('SELECT sum(calls) AS calls FROM sums WHERE grouping_id = 0 AND minutes = 60')
  await eventually('sums', () => sums.get()?.['calls'] === 500)
  const empty = other.prepare('PRAGMA wal_checkpoint(TRUNCATE)')
  await eventually('the log is emptied', () => empty.get()?.['busy'] === 0)
  other.close()
  const size = statSync(dir.file('data/calls.db')).size
  writeFileSync(dir.file('data/calls.db'), Buffer.alloc(size, 'x'))
  for (let ms = 500; ms < 1000; ms++) writer.finish(chatCall(idAt(ms)))
  await eventually('all rows', () => writer.figures().written === 1000)
  assert.ok(readdirSync(dir.file('data')).some((name) => name.includes('.corrupt-')))
  assert.ok(codes(writer).includes('database_damaged'))
  await writer.close()
  const checked = new DatabaseSync(dir.file('data/calls.db'), { timeout: 5000 })
  assert.equal(checked.prepare('PRAGMA integrity_check').get()?.['integrity_check'], 'ok')
  checked.close()
})

test('a deleted file is made again, and what was just written is written again', async () => {
  await using dir = await makeTempDir()
  // It finds out as it writes.
  const writer = writerIn(dir, { checkEveryMs: 3_600_000 })
  writer.finish(chatCall(idAt(0)))
  await eventually('a row', () => writer.figures().written === 1)
  for (const suffix of ['', '-wal', '-shm']) rmSync(dir.file(`data/calls.db${suffix}`))
  writer.finish(chatCall(idAt(1)))
  await eventually('a second row', () => writer.figures().written === 2)
  assert.deepEqual(codes(writer), ['database_moved'])
  assert.equal(callsIn(dir).length, 1)
  await writer.close()
})

test('a file that another takes the place of is left, with its log, to its new name', async () => {
  await using dir = await makeTempDir()
  openForWriting(dir.file('other.db')).close()
  const writer = writerIn(dir, { checkEveryMs: 20 })
  writer.finish(chatCall(idAt(0)))
  await eventually('a row', () => writer.figures().written === 1)
  renameSync(dir.file('other.db'), dir.file('data/calls.db'))
  await eventually('it is noticed without any call', () => codes(writer).includes('database_moved'))
  writer.finish(chatCall(idAt(1)))
  await eventually('a second row', () => writer.figures().written === 2)
  assert.ok(readdirSync(dir.file('data')).some((name) => name.includes('.orphan-')))
  await writer.close()
  assert.deepEqual(fieldsOf(callsIn(dir), 'id'), [formatCallId(idAt(1))])
})

test('a folder that cannot be made is a warning; the oldest calls make way; all is well once it can', async () => {
  await using dir = await makeTempDir()
  writeFileSync(dir.file('data'), 'a plain file')
  const writer = writerIn(dir, { pendingLimit: 100 })
  await eventually('the warning', () => codes(writer).includes('database_unavailable'))
  // The first 32 are on their way at once. Of the others, all in one turn, the oldest make way.
  for (let ms = 0; ms < 250; ms++) {
    const call = chatCall(idAt(ms))
    writer.begin(call)
    writer.finish(call)
  }
  const { written, pending, dropped } = writer.figures()
  assert.deepEqual({ written, pending, dropped }, { written: 0, pending: 100, dropped: 150 })
  rmSync(dir.file('data'))
  await eventually('the rest is written', () => writer.figures().written === 100)
  await eventually('the warning goes', () => !codes(writer).includes('database_unavailable'))
  await writer.close()
  assert.deepEqual(
    fieldsOf(callsIn(dir), 'id'),
    Array.from({ length: 100 }, (_, index) => formatCallId(idAt(index < 68 ? 249 - index : 99 - index))),
  )
})

test("a newer version's database is neither read, written nor moved", async () => {
  await using dir = await makeTempDir()
  openForWriting(dir.file('data/calls.db')).close()
  const other = new DatabaseSync(dir.file('data/calls.db'), { timeout: 5000 })
  other.exec(`PRAGMA user_version = ${schemaVersion + 1}`)
  other.close()
  const writer = writerIn(dir, { closeTimeoutMs: 200 })
  await eventually('the warning', () => codes(writer).includes('database_other_version'))
  writer.finish(chatCall(idAt(0)))
  await writer.close()
  assert.deepEqual(writer.figures(), { written: 0, pending: 0, dropped: 1 })
  assert.equal(openCallReader(dir.file('data/calls.db')), 'other_version')
})

test('while another process holds the lock nothing is lost and nobody waits', async () => {
  await using dir = await makeTempDir()
  const writer = writerIn(dir)
  await writer.usageByMinute(0)
  const other = new DatabaseSync(dir.file('data/calls.db'), { timeout: 5000 })
  other.exec('BEGIN IMMEDIATE')
  for (let ms = 0; ms < 30; ms++) writer.finish(chatCall(idAt(ms)))
  // Asked behind the rows, and answered: the writer has met the lock.
  await writer.usageByMinute(0)
  assert.deepEqual(writer.figures(), { written: 0, pending: 30, dropped: 0 })
  other.exec('COMMIT')
  other.close()
  await eventually('all rows', () => writer.figures().written === 30)
  await writer.close()
})

test('close is bounded, and counts what it could not write as dropped', async () => {
  await using dir = await makeTempDir()
  const writer = writerIn(dir, { closeTimeoutMs: 300 })
  await writer.usageByMinute(0)
  const other = new DatabaseSync(dir.file('data/calls.db'), { timeout: 5000 })
  other.exec('BEGIN IMMEDIATE')
  writer.finish(chatCall(idAt(0)))
  const startedMs = performance.now()
  await writer.close()
  assertWithin(1000, performance.now() - startedMs, 'closing')
  assert.deepEqual(writer.figures(), { written: 0, pending: 0, dropped: 1 })
  writer.finish(chatCall(idAt(1)))
  assert.equal(writer.figures().dropped, 2)
  other.exec('COMMIT')
  other.close()
})

/** With a lock, as each gateway has it. */
function recorderIn(dir: TempDir, options: Partial<WriterThreadOptions> = {}): WriterThread {
  mkdirSync(dir.file('data'), { recursive: true })
  return writerIn(dir, { number: takeInstanceNumber(dir.file('data')), ...options })
}

const openIds = (dir: TempDir): readonly number[] => openCallIds(dir.file('data/calls.db'))

test('a call that stays open is noted, also where none ends, and no longer once it has ended', async () => {
  await using dir = await makeTempDir()
  const writer = recorderIn(dir)
  const calls = [1, 2].map((ms) => chatCall(idAt(ms)))
  for (const call of calls) writer.begin(call)
  await eventually('both are noted', () => openIds(dir).length === 2)
  assert.deepEqual(callsIn(dir), [])
  writer.finish(calls[0]!)
  await eventually('a row', () => writer.figures().written === 1)
  assert.deepEqual(openIds(dir), [calls[1]!.id])
  writer.finish(calls[1]!)
  await writer.close()
  assert.deepEqual([openIds(dir), callsIn(dir).length], [[], 2])
})

test('a call that is shorter than a batch is never noted, and nothing runs while nothing happens', async () => {
  await using dir = await makeTempDir()
  const clock = new FakeClock()
  const posted: ToWriter[] = []
  const startWorker = (): Worker => {
    const worker = new Worker('setInterval(() => {}, 1000)', { eval: true })
    worker.postMessage = (message: ToWriter) => {
      posted.push(message)
      worker.emit('message', { kind: 'written', dropped: 0 })
    }
    return worker
  }
  const writer = recorderIn(dir, { clock, startWorker, closeTimeoutMs: 10 })
  assert.equal(clock.pending(), 0)
  const opened = (): readonly number[] =>
    posted.splice(0).flatMap((message) => (message.kind === 'write' ? message.opened.map(([id]) => id) : []))
  const [short, long] = [chatCall(idAt(1)), chatCall(idAt(2))]
  writer.begin(short)
  clock.tick(40)
  writer.begin(long)
  writer.finish(short)
  clock.tick(10)
  assert.deepEqual(opened(), [])
  clock.tick(50)
  assert.deepEqual(opened(), [long.id])
  clock.tick(50)
  assert.equal(clock.pending(), 0)
  const closed = writer.close()
  clock.tick(10)
  await closed
})

test('open calls are noted anew in the file that takes the place of one that was deleted', async () => {
  await using dir = await makeTempDir()
  const writer = recorderIn(dir, { checkEveryMs: 20 })
  const call = chatCall(idAt(1))
  writer.begin(call)
  await eventually('it is noted', () => openIds(dir).length === 1)
  rmSync(dir.file('data'), { recursive: true })
  await eventually('it is noted again', () => openIds(dir).length === 1)
  assert.ok(codes(writer).includes('database_moved'))
  writer.finish(call)
  await writer.close()
  assert.deepEqual([openIds(dir), callsIn(dir).length], [[], 1])
})

test('while the database cannot be written open calls wait, and a thread that dies loses none', async () => {
  await using dir = await makeTempDir()
  const workers: Worker[] = []
  const writer = recorderIn(dir, { startWorker: keptIn(workers) })
  await writer.usageByMinute(0)
  const other = new DatabaseSync(dir.file('data/calls.db'), { timeout: 5000 })
  other.exec('BEGIN IMMEDIATE')
  const calls = [1, 2, 3].map((ms) => chatCall(idAt(ms)))
  for (const call of calls) writer.begin(call)
  writer.finish(calls[0]!)
  await workers[0]!.terminate()
  other.exec('COMMIT')
  other.close()
  await eventually('those that are open are noted', () => openIds(dir).length === 2)
  await eventually('the other is a row', () => writer.figures().written === 1)
  writer.finish(calls[1]!)
  writer.finish(calls[2]!)
  await writer.close()
  assert.deepEqual([openIds(dir), callsIn(dir).length], [[], 3])
})

test('a log that a reader keeps from being emptied is a warning beyond its limit, until that reader ends', async () => {
  await using dir = await makeTempDir()
  const walLimits = { emptyBytes: 2 ** 20, warnBytes: 8 * 2 ** 20 }
  const writer = writerIn(dir, { checkEveryMs: 20, pendingLimit: 100_000, walLimits })
  await writer.usageByMinute(0)
  const reader = new DatabaseSync(dir.file('data/calls.db'), { readOnly: true })
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM calls').get()
  const walBytes = (): number => statSync(dir.file('data/calls.db-wal')).size
  let finished = 0
  while (walBytes() <= walLimits.warnBytes) {
    if (walBytes() < 4 * walLimits.emptyBytes) assert.deepEqual(codes(writer), [])
    for (let index = 0; index < 1000; index++) writer.finish(fullCall(idAt(finished++)))
    await eventually('they are written', () => writer.figures().written === finished)
  }
  await eventually('the warning', () => codes(writer).includes('wal_large'))
  // Sums are written to it, too, meanwhile.
  const [, told] =
    /calls\.db-wal holds (\d+) MiB.*End programs that read/.exec(writer.warnings()[0]?.message ?? '') ?? []
  assert.ok(Number(told) >= 8 && Number(told) <= walBytes() / 2 ** 20 + 1, told)
  reader.exec('COMMIT')
  reader.close()
  await eventually('the warning goes', () => codes(writer).length === 0)
  assert.ok(walBytes() < walLimits.emptyBytes, `${walBytes()} bytes`)
  await writer.close()
})

test('a log that is deleted while in use loses nothing, and calls are written where others see them', async () => {
  await using dir = await makeTempDir()
  const writer = writerIn(dir, { checkEveryMs: 20 })
  for (let ms = 0; ms < 100; ms++) writer.finish(chatCall(idAt(ms)))
  await eventually('rows', () => writer.figures().written === 100)
  rmSync(dir.file('data/calls.db-wal'))
  await eventually('it is noticed', () => codes(writer).includes('database_moved'))
  await eventually(
    'there is a log again',
    () => statSync(dir.file('data/calls.db-wal'), { throwIfNoEntry: false }) !== undefined,
  )
  writer.finish(chatCall(idAt(100)))
  await eventually('one more', () => writer.figures().written === 101)
  assert.equal(callsIn(dir).length, 101)
  await writer.close()
  assert.equal(callsIn(dir).length, 101)
})

test('32 calls are written at once, fewer after a pause', async () => {
  await using dir = await makeTempDir()
  const writer = writerIn(dir, { clock: new FakeClock() })
  for (let ms = 0; ms < 40; ms++) writer.finish(chatCall(idAt(ms)))
  await eventually('the first rows', () => writer.figures().written > 0)
  assert.deepEqual(writer.figures(), { written: 32, pending: 8, dropped: 0 })
  await writer.close()
})

test('a thread that hangs is a warning of its own, and so is what is lost meanwhile', async () => {
  await using dir = await makeTempDir()
  const clock = new FakeClock()
  const startWorker = (): Worker => new Worker('setInterval(() => {}, 1000)', { eval: true })
  const writer = writerIn(dir, { clock, startWorker, pendingLimit: 10, closeTimeoutMs: 10 })
  writer.finish(chatCall(idAt(0)))
  clock.tick(50)
  assert.deepEqual(codes(writer), [])
  clock.tick(10_000)
  assert.deepEqual(codes(writer), ['writer_stalled'])
  for (let ms = 1; ms <= 12; ms++) writer.finish(chatCall(idAt(ms)))
  assert.deepEqual(codes(writer), ['writer_stalled', 'records_dropped'])
  assert.deepEqual(writer.figures(), { written: 0, pending: 10, dropped: 3 })
  clock.tick(6000)
  assert.deepEqual(codes(writer), ['writer_stalled'])
  const closed = writer.close()
  clock.tick(10)
  await closed
})

test('a call whose id another gateway has given out is counted as dropped, and warned of', async () => {
  await using dir = await makeTempDir()
  const [one, other] = [writerIn(dir), writerIn(dir, { instance: 'other' })]
  one.finish(chatCall(idAt(0)))
  await eventually('the first row', () => one.figures().written === 1)
  other.finish({ ...chatCall(idAt(0)), instance: 'other' })
  other.finish({ ...chatCall(idAt(1)), instance: 'other' })
  await eventually('both are settled', () => other.figures().pending === 0)
  assert.deepEqual(other.figures(), { written: 1, pending: 0, dropped: 1 })
  assert.deepEqual(
    codes(other).filter((code) => code !== 'records_dropped'),
    ['id_conflict'],
  )
  assert.deepEqual(codes(one), [])
  await Promise.all([one.close(), other.close()])
  assert.equal(callsIn(dir).length, 2)
})
