/**
 * Generated calls are exported by the command, imported by the command into a new file, and fifty questions are asked of both:
 * `node test/faults/calls-moved.ts [--calls 10000000] [--days 365]`. It needs 700 bytes a call in the folder for temporary
 * files, and ends with 1 where an answer differs.
 */
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { addPast } from '../../bench/generate/add-past.ts'
import { sumAll } from '../../bench/generate/sums-anew.ts'
import type { StoreReader } from '../../src/call/call-reader.ts'
import { openCallReader } from '../../src/store/read/call-query.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { assertNear, fiftyAnswers } from '../store/fifty-answers.ts'
import { startCommandProcess } from '../support/command-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const { values } = parseArgs({
  options: { calls: { type: 'string', default: '10000000' }, days: { type: 'string', default: '365' } },
})
const [calls, days] = [Number(values.calls), Number(values.days)]
const toMs = Date.UTC(2026, 10, 20)
const range = { fromMs: toMs - days * 86_400_000, toMs }

await using dir = await makeTempDir()
const [from, file, to] = [dir.file('from.db'), dir.file('calls.ndjson'), dir.file('to.db')]
const database = openForWriting(from)
database.exec('PRAGMA synchronous = OFF')
addPast(database, { calls, days, endMs: toMs, seed: 51 })
sumAll(database, Date.now())
database.close()

/** Runs a command to its end; in seconds. */
async function run(...args: readonly string[]): Promise<number> {
  const startedMs = performance.now()
  await using command = startCommandProcess({ args, directory: dir.path })
  assert.equal((await command.exited).code, 0, command.stderr)
  return (performance.now() - startedMs) / 1000
}

function readerOf(path: string): StoreReader {
  const reader = openCallReader(path)
  assert.ok(typeof reader === 'object')
  return reader
}

const exportedS = await run('db', 'export', '--db', from, '--format', 'ndjson', '--out', file)
const importedS = await run('db', 'import', file, '--db', to)
const [told, expected] = [await fiftyAnswers(readerOf(to), range), await fiftyAnswers(readerOf(from), range)]
for (const [index, answer] of told.entries()) assertNear(answer, expected[index], `question ${index}`)
const perSecond = (seconds: number): string => `${Math.round(calls / seconds)} a second`
console.log(
  `measured: ${calls} calls exported at ${perSecond(exportedS)} (${Math.round(statSync(file).size / 1e6)} MB), imported at ${perSecond(importedS)}; ${told.length} answers are the same`,
)
