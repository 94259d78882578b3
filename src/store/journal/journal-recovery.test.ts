import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { rowsOf } from '../../../test/store/rows-of.ts'
import { callStart, chatCall } from '../../../test/store/sample-call.ts'
import { makeTempDir, type TempDir } from '../../../test/support/temp-dir.ts'
import { CallWriter } from '../write/call-writer.ts'
import { ownIdentity } from '../../lib/process-identity.ts'
import { takeInstanceNumber } from '../sqlite/instance-number.ts'
import { endLine, headerLine, startLine } from './journal-line.ts'
import { recoverJournals } from './journal-recovery.ts'
import { openForWriting } from '../sqlite/open-store.ts'
import { BatchEncoder, WordList } from '../write/record-batch.ts'

const dead = headerLine({ instance: 'dead1', ...ownIdentity(), number: 7 })
const wallTimeMs = Date.UTC(2026, 10, 21)

function recover(dir: TempDir, database: DatabaseSync): string | null {
  return recoverJournals(dir.path, database, { self: null, wallTimeMs }).damage
}

async function withStore(work: (dir: TempDir, database: DatabaseSync) => void): Promise<void> {
  await using dir = await makeTempDir()
  const database = openForWriting(dir.file('calls.db'))
  try {
    work(dir, database)
  } finally {
    database.close()
  }
}

function rows(database: DatabaseSync): readonly unknown[] {
  const sql =
    'SELECT id, (SELECT text FROM outcomes WHERE id = outcome_id) AS outcome, status, duration_us, attempts FROM calls'
  return rowsOf(database, sql)
}

function journals(dir: TempDir): string[] {
  return readdirSync(dir.path).filter((name) => name.startsWith('inflight-'))
}

const interrupted = { outcome: 'interrupted', status: null, duration_us: null, attempts: 1 }

test("a dead instance's calls become rows, but for the torn last one, and its journal goes", () =>
  withStore((dir, database) => {
    writeFileSync(
      dir.file('inflight-dead1.log'),
      dead + startLine(callStart(5)) + startLine(callStart(6)) + startLine(callStart(7)).slice(0, -9),
    )
    recover(dir, database)
    assert.deepEqual(rows(database), [
      { id: 5, ...interrupted },
      { id: 6, ...interrupted },
    ])
    const [call] = database.prepare('SELECT * FROM calls_readable').all()
    assert.equal(call?.['instance'], 'dead1')
    assert.equal(call?.['model'], 'gpt-5.1-mini')
    assert.equal(call?.['request_bytes'], 5321)
    assert.equal(call?.['key_fingerprint'], 'a1b2c3d4')
    assert.deepEqual(journals(dir), [])
    assert.equal(database.prepare('SELECT count(*) AS n FROM budget_minutes').get()?.['n'], 0)
  }))

test('a call that has its row keeps it', () =>
  withStore((dir, database) => {
    const words = new WordList()
    const batch = new BatchEncoder().encode([chatCall(5)])
    words.accept(batch)
    new CallWriter(database, words).write(batch)
    const before = rows(database)
    writeFileSync(dir.file('inflight-dead1.log'), dead + startLine(callStart(5)))
    recover(dir, database)
    assert.deepEqual(rows(database), before)
  }))

test('a call that had ended becomes the row that it was to be, and counts; a torn end leaves its begin', () =>
  withStore((dir, database) => {
    const [five, six, seven] = [chatCall(5), { ...chatCall(6), upstream: null }, chatCall(7)] as const
    writeFileSync(
      dir.file('inflight-dead1.log'),
      dead +
        startLine(callStart(5)) +
        startLine(callStart(7)) +
        endLine(five) +
        endLine(six) +
        endLine(seven).slice(0, -9),
    )
    recover(dir, database)
    assert.deepEqual(rows(database), [
      { id: 5, outcome: 'ok', status: 200, duration_us: five.durationMs * 1000, attempts: 1 },
      { id: 6, outcome: 'ok', status: 200, duration_us: six.durationMs * 1000, attempts: 1 },
      { id: 7, ...interrupted },
    ])
    const tokens = 2 * ((five.inputTokens ?? 0) + (five.outputTokens ?? 0))
    const used = database.prepare('SELECT sum(tokens) AS tokens FROM budget_minutes').get()
    assert.equal(used?.['tokens'], tokens)
    assert.deepEqual(journals(dir), [])
  }))

test('an ended call is priced as it would have been', () =>
  withStore((dir, database) => {
    const call = { ...chatCall(5), costNanoUsd: null, priceSource: null, priceKey: null }
    writeFileSync(dir.file('inflight-dead1.log'), dead + endLine(call) + startLine(callStart(6)))
    const pricer = {
      costOf: () => ({ costNanoUsd: 1200, cacheSavedNanoUsd: null, source: 'user', key: 'own' }),
    }
    recoverJournals(dir.path, database, { self: null, wallTimeMs, pricer })
    const costs = rowsOf(
      database,
      'SELECT id, cost_nano_usd AS cost, (SELECT text FROM labels WHERE id = price_key_id) AS key FROM calls',
    )
    assert.deepEqual(costs, [
      { id: 5, cost: 1200, key: 'own' },
      { id: 6, cost: null, key: null },
    ])
  }))

test('being interrupted in its middle and done again, it comes to the same', () =>
  withStore((dir, database) => {
    const text = dead + Array.from({ length: 1200 }, (_, id) => startLine(callStart(id + 1))).join('')
    writeFileSync(dir.file('inflight-dead1.log'), text)
    recover(dir, database)
    const before = rows(database)
    assert.equal(before.length, 1200)
    writeFileSync(dir.file('inflight-dead1.log'), text)
    recover(dir, database)
    assert.deepEqual(rows(database), before)
  }))

test("a living instance's journal is not touched, whatever its process is here", () =>
  withStore((dir, database) => {
    const gone = { instance: 'live1', pid: 1, startTicks: 0, bootId: 'before' }
    const number = takeInstanceNumber(dir.path)
    const alive = headerLine({ ...gone, number: number.value })
    writeFileSync(dir.file('inflight-live1.log'), alive + startLine(callStart(5)))
    writeFileSync(dir.file('inflight-live1.log.tmp'), alive)
    recover(dir, database)
    assert.deepEqual(rows(database), [])
    assert.deepEqual(journals(dir), ['inflight-live1.log', 'inflight-live1.log.tmp'])
    // One that is just being begun has no header yet.
    writeFileSync(dir.file('inflight-live1.log.tmp'), '')
    recover(dir, database)
    assert.deepEqual(journals(dir), ['inflight-live1.log', 'inflight-live1.log.tmp'])
    number[Symbol.dispose]()
    recover(dir, database)
    assert.deepEqual(rows(database), [{ id: 5, ...interrupted }])
    assert.deepEqual(journals(dir), [])
  }))

test('who has the number of an instance that ended looks after its journal, and nobody else does', () =>
  withStore((dir, database) => {
    using number = takeInstanceNumber(dir.path)
    writeFileSync(
      dir.file('inflight-dead1.log'),
      headerLine({ instance: 'dead1', ...ownIdentity(), number: number.value }) + startLine(callStart(5)),
    )
    recover(dir, database)
    assert.deepEqual(rows(database), [])
    recoverJournals(dir.path, database, { self: { instance: 'dead1', number: number.value }, wallTimeMs })
    assert.deepEqual(rows(database), [], 'its own journal')
    recoverJournals(dir.path, database, { self: { instance: 'next1', number: number.value }, wallTimeMs })
    assert.deepEqual(rows(database), [{ id: 5, ...interrupted }])
  }))

test('without a number of its own the process tells whether an instance lives', () =>
  withStore((dir, database) => {
    const [here, before] = [ownIdentity(), { pid: 1, startTicks: 0, bootId: 'before' }]
    const line = startLine(callStart(5))
    writeFileSync(
      dir.file('inflight-live1.log'),
      headerLine({ instance: 'live1', ...here, number: null }) + line,
    )
    recover(dir, database)
    assert.deepEqual(rows(database), [])
    writeFileSync(
      dir.file('inflight-dead1.log'),
      headerLine({ instance: 'dead1', ...before, number: null }) + line,
    )
    recover(dir, database)
    assert.deepEqual(rows(database), [{ id: 5, ...interrupted }])
    assert.deepEqual(journals(dir), ['inflight-live1.log'])
  }))

test('a journal tells of calls whose id another instance has given out', () =>
  withStore((dir, database) => {
    writeFileSync(dir.file('inflight-dead1.log'), dead + startLine(callStart(5)))
    writeFileSync(
      dir.file('inflight-dead2.log'),
      headerLine({ instance: 'dead2', ...ownIdentity(), number: 7 }) + startLine(callStart(5)),
    )
    assert.deepEqual(recoverJournals(dir.path, database, { self: null, wallTimeMs }), {
      damage: null,
      conflicts: 1,
    })
  }))

test('what a rewrite left behind, and what has no header, goes without rows', () =>
  withStore((dir, database) => {
    writeFileSync(dir.file('inflight-dead1.log.tmp'), dead + startLine(callStart(5)))
    writeFileSync(dir.file('inflight-empty.log'), '')
    writeFileSync(dir.file('inflight-zeros.log'), '\0'.repeat(9000))
    writeFileSync(dir.file('inflight-other.txt'), 'not ours')
    mkdirSync(dir.file('inflight-folder.log'))
    assert.match(String(recover(dir, database)), /inflight-folder\.log cannot be read/)
    assert.deepEqual(rows(database), [])
    assert.deepEqual(journals(dir), ['inflight-folder.log', 'inflight-other.txt'])
  }))

const keptAs = '.corrupt-2026-11-21T00-00-00.000Z'

test('a journal that is damaged in its middle gives what calls can be read, and is kept', () =>
  withStore((dir, database) => {
    const noise = '\u0001\u0002 noise\n'
    writeFileSync(
      dir.file('inflight-dead1.log'),
      dead + startLine(callStart(5)) + noise + startLine(callStart(6)),
    )
    assert.match(String(recover(dir, database)), /was damaged.*kept as/)
    assert.deepEqual(rows(database), [
      { id: 5, ...interrupted },
      { id: 6, ...interrupted },
    ])
    assert.deepEqual(journals(dir), [`inflight-dead1.log${keptAs}`])
    assert.equal(recover(dir, database), null)
    assert.deepEqual(journals(dir), [`inflight-dead1.log${keptAs}`])
  }))

test('a journal whose first line is damaged is kept: nothing says whose it is, or whether that one lives', () =>
  withStore((dir, database) => {
    writeFileSync(dir.file('inflight-dead1.log'), `["tokenweir-infl\n${startLine(callStart(5))}`)
    assert.match(String(recover(dir, database)), /was damaged/)
    assert.deepEqual(rows(database), [])
    assert.deepEqual(journals(dir), [`inflight-dead1.log${keptAs}`])
  }))

test('one journal that cannot be read keeps no other from being read', () =>
  withStore((dir, database) => {
    mkdirSync(dir.file('inflight-a.log'))
    writeFileSync(dir.file('inflight-dead1.log'), dead + startLine(callStart(5)))
    mkdirSync(dir.file('inflight-z.log'))
    assert.match(String(recover(dir, database)), /cannot be read/)
    assert.deepEqual(rows(database), [{ id: 5, ...interrupted }])
  }))
