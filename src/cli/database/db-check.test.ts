import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandFault } from '../../../test/support/command-fault.ts'
import { FakeTerminal } from '../../../test/support/fake-terminal.ts'
import { given } from '../../../test/support/given.ts'
import type { CheckReport } from '../../store/jobs/check-store.ts'
import type { StoreAbsence } from '../../store/sqlite/open-store.ts'
import * as dbCheck from './db-check.ts'

const sound: CheckReport = {
  calls: 12_345,
  callsToAdd: 0,
  foldedUntilMs: null,
  integrity: [],
  hours: { checked: 200, of: 8000, wrongMs: [] },
  days: { checked: 90, of: 90, wrongMs: [] },
}

function run(report: CheckReport | StoreAbsence, args: readonly string[] = []) {
  const terminal = new FakeTerminal()
  let full: boolean | undefined
  const code = dbCheck.run(...given(dbCheck, ['--db', 'x.db', ...args], terminal), (_path, options) => {
    full = options.full
    return report
  })
  return { code, stdout: terminal.out, stderr: terminal.err, full }
}

test('of a sound database it says what was looked at', () => {
  assert.deepEqual(run(sound), {
    code: 0,
    stdout: `✓ file, tables and indexes are intact
✓ 12,345 calls
✓ hours that match their calls: 200 of 8,000
✓ days that match their hours: 90 of 90
x.db is intact.
`,
    stderr: '',
    full: false,
  })
  assert.equal(run(sound, ['--full']).full, true)
})

test('folded calls, and calls that are yet to be added up, are nothing wrong', () => {
  const { code, stdout } = run({ ...sound, callsToAdd: 1500, foldedUntilMs: Date.UTC(2026, 7, 23) })
  assert.equal(code, 0)
  assert.match(stdout, /12,345 calls; those before 2026-08-23T00:00Z are rolled up\n/)
  assert.match(stdout, /· not in the totals yet: 1,500 calls;/)
})

test('what is wrong is named, and the exit code is 1', () => {
  const wrongMs = Array.from({ length: 7 }, (_, index) => Date.UTC(2026, 7, 23, index))
  const off = run({ ...sound, hours: { checked: 200, of: 8000, wrongMs } })
  assert.equal(off.code, 1)
  assert.match(off.stdout, /✗ hours that differ from their calls: 7 of 200: 2026-08-23T00:00Z, (.+, ){4}…\n/)
  assert.match(off.stdout, /x\.db is DAMAGED\. `tokenweir db rebuild` recounts .+\.\n$/)
  const days = run({ ...sound, days: { checked: 90, of: 90, wrongMs: [Date.UTC(2026, 7, 23)] } })
  assert.equal(days.code, 1)
  const damaged = run({ ...sound, integrity: ['row 7 missing from index calls_by_seq'] })
  assert.equal(damaged.code, 1)
  assert.doesNotMatch(damaged.stdout, /rebuild/)
  assert.match(damaged.stdout, /✗ the file is damaged:\n {4}row 7 missing from index calls_by_seq\n/)
})

test('no database is a fault, and so is one of another version', () => {
  assert.throws(() => run('other_version'), commandFault(/^x\.db: The database is of another version/))
  assert.throws(() => run('missing'), commandFault(/^x\.db: There is no database yet/))
})
