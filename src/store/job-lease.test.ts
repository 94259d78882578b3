import assert from 'node:assert/strict'
import type { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { makeTempDir } from '../../test/support/temp-dir.ts'
import type { ProcessIdentity } from '../lib/process-identity.ts'
import { releaseLease, takeLease } from './job-lease.ts'
import { openForWriting } from './open-store.ts'

const first: ProcessIdentity = { pid: 100, startTicks: 5, bootId: 'b' }
const second: ProcessIdentity = { pid: 200, startTicks: 6, bootId: 'b' }
/** The number of the first one, in a process that started later. */
const recycled: ProcessIdentity = { ...first, startTicks: 9 }

async function withDatabase(work: (database: DatabaseSync) => void): Promise<void> {
  await using dir = await makeTempDir()
  const database = openForWriting(dir.file('calls.db'))
  try {
    work(database)
  } finally {
    database.close()
  }
}

/** Takes the lease where only these live. */
function take(database: DatabaseSync, self: ProcessIdentity, alive: readonly ProcessIdentity[]): boolean {
  const isAlive = ({ pid, startTicks, bootId }: ProcessIdentity): boolean =>
    alive.some((each) => each.pid === pid && each.startTicks === startTicks && each.bootId === bootId)
  return takeLease(database, 'compress', { self, isAlive, wallTime: () => 1 })
}

test('one process at a time has a job, and nobody gets it twice', () =>
  withDatabase((database) => {
    assert.equal(take(database, first, [first, second]), true)
    assert.equal(take(database, second, [first, second]), false)
    assert.equal(take(database, first, [first, second]), false)
    releaseLease(database, 'compress', first)
    assert.equal(take(database, second, [first, second]), true)
  }))

test('the job of a dead process is taken over, also where its number lives on', () =>
  withDatabase((database) => {
    assert.equal(take(database, first, [first]), true)
    assert.equal(take(database, second, [second, recycled]), true)
  }))

test('a lease that was taken over is not given up by its former holder', () =>
  withDatabase((database) => {
    take(database, first, [first])
    take(database, second, [second])
    releaseLease(database, 'compress', first)
    assert.equal(take(database, first, [first, second]), false)
  }))

test('where the system does not tell when a process began, its number counts', () =>
  withDatabase((database) => {
    const plain: ProcessIdentity = { pid: 100, startTicks: null, bootId: null }
    assert.equal(take(database, plain, [plain]), true)
    assert.equal(take(database, second, [plain, second]), false)
    releaseLease(database, 'compress', plain)
    assert.equal(take(database, second, [plain, second]), true)
  }))
