import assert from 'node:assert/strict'
import type { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { rowsOf } from '../../../test/store/rows-of.ts'
import { callStart, chatCall } from '../../../test/store/sample-call.ts'
import { writeCalls } from '../../../test/store/write-calls.ts'
import { makeTempDir, type TempDir } from '../../../test/support/temp-dir.ts'
import { takeInstanceNumber } from '../sqlite/instance-number.ts'
import { openForWriting } from '../sqlite/open-store.ts'
import { HistoryWriter } from './history-writer.ts'
import { OpenCalls } from './open-calls.ts'
import { recoverCalls } from './recover-calls.ts'

const self = { instance: 'self1', number: null }

async function withStore(work: (database: DatabaseSync, dir: TempDir) => void): Promise<void> {
  await using dir = await makeTempDir()
  using database = openForWriting(dir.file('calls.db'))
  work(database, dir)
}

/** Puts calls into `open_calls` as the gateway with that number does. */
function note(database: DatabaseSync, instance: string, number: number, ids: readonly number[]): void {
  const open = new OpenCalls()
  for (const id of ids) open.begin(callStart(id))
  open.tick()
  open.tick()
  const history = new HistoryWriter(database, { instance, version: '1', number })
  for (let rows = open.dueRows(); rows.length > 0; rows = open.dueRows()) history.write([], [], rows)
}

function rows(database: DatabaseSync): readonly unknown[] {
  return rowsOf(
    database,
    `SELECT id, (SELECT text FROM outcomes WHERE id = outcome_id) AS outcome, status, duration_us,
      attempts, (SELECT text FROM instances WHERE id = instance_id) AS instance FROM calls`,
  )
}

const openIds = (database: DatabaseSync): readonly unknown[] =>
  rowsOf(database, 'SELECT id FROM open_calls').map(({ id }) => id)
const cutOff = { outcome: 'interrupted', status: null, duration_us: null, attempts: 1, instance: 'dead1' }

test('the end of a call takes it out of the open ones, in the transaction that adds its row', () =>
  withStore((database, dir) => {
    note(database, 'k3v9', 7, [5, 6])
    const noted = { ...chatCall(5), noted: 1 }
    database.exec("CREATE TRIGGER fail BEFORE INSERT ON budget_minutes BEGIN SELECT raise(FAIL, 'no'); END")
    assert.throws(() => writeCalls(database, [noted]), /no/)
    assert.deepEqual(openIds(database), [5, 6])
    database.exec('DROP TRIGGER fail')
    writeCalls(database, [noted])
    assert.deepEqual(openIds(database), [6])
    recoverCalls(database, dir.path, self)
    const outcomes = [
      { id: 5, outcome_id: 0 },
      { id: 6, outcome_id: 6 },
    ]
    assert.deepEqual(rowsOf(database, 'SELECT id, outcome_id FROM calls'), outcomes)
  }))

test('a call that has its row keeps it', () =>
  withStore((database, dir) => {
    note(database, 'k3v9', 7, [5])
    writeCalls(database, [chatCall(5)])
    const before = rows(database)
    assert.equal(recoverCalls(database, dir.path, self), 0)
    assert.deepEqual(rows(database), before)
    assert.deepEqual(openIds(database), [])
  }))

test('the gateway that has the number of a dead one recovers its calls, and leaves its own', () =>
  withStore((database, dir) => {
    using number = takeInstanceNumber(dir.path)
    note(database, 'dead1', number.value, [5])
    note(database, 'next1', number.value, [6])
    recoverCalls(database, dir.path, { instance: 'next1', number: number.value })
    assert.deepEqual(rows(database), [{ id: 5, ...cutOff }])
    assert.deepEqual(openIds(database), [6])
  }))

test('a call whose id another one has is counted, and an unreadable one does not keep others from being read', () =>
  withStore((database, dir) => {
    note(database, 'dead1', 7, [5, 6, 7, 8])
    writeCalls(database, [chatCall(5)])
    database.exec(`UPDATE open_calls SET call = '{"callType":' WHERE id = 6;
      UPDATE open_calls SET call = json_remove(call, '$.endpoint') WHERE id = 7`)
    assert.equal(recoverCalls(database, dir.path, self), 1)
    assert.deepEqual(rowsOf(database, 'SELECT id FROM calls'), [{ id: 5 }, { id: 8 }])
    assert.deepEqual(openIds(database), [])
  }))

test('more calls than one batch holds are recovered', () =>
  withStore((database, dir) => {
    const ids = Array.from({ length: 1200 }, (_, id) => id + 1)
    note(database, 'dead1', 7, ids)
    recoverCalls(database, dir.path, self)
    assert.deepEqual(rowsOf(database, 'SELECT count(*) AS n FROM calls'), [{ n: 1200 }])
    assert.deepEqual(openIds(database), [])
  }))
