/**
 * Calls are imported beside a gateway that takes calls:
 * `node test/faults/import-beside.ts [--calls 200000] [--days 18]`. Tells how quick that is, and how long a row of the
 * gateway's and a question take meanwhile; ends with 1 if a row took over a second, or a call is missing.
 */
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { addPast } from '../../bench/generate/add-past.ts'
import { openCallReader } from '../../src/store/read/call-query.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { fiftyAnswers } from '../store/fifty-answers.ts'
import { startCommandProcess } from '../support/command-process.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { steadyReply } from './steady-load.ts'

const { values } = parseArgs({
  options: { calls: { type: 'string', default: '200000' }, days: { type: 'string', default: '18' } },
})
const [calls, days] = [Number(values.calls), Number(values.days)]
const range = { fromMs: Date.now() - days * 86_400_000, toMs: Date.now() }

await using dir = await makeTempDir()
const [from, file] = [dir.file('from.db'), dir.file('calls.ndjson')]
const past = openForWriting(from)
addPast(past, { calls, days, endMs: range.toMs, seed: 51 })
past.close()
await using exporting = startCommandProcess({
  args: ['db', 'export', '--db', from, '--format', 'ndjson', '--out', file],
  directory: dir.path,
})
await exporting.exited

await using upstream = await startSimulatedUpstream({ reply: steadyReply })
await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl })
await gateway.waitForOutput(/calls are recorded in/)
using database = new DatabaseSync(gateway.databaseFile, { readOnly: true, timeout: 5000 })
const own = database.prepare('SELECT count(*) AS n FROM calls WHERE id >= ? AND source_id IS NULL')
const ownFrom = (Date.now() - 60_000) * 4096
const rows = (): number => Number(own.get(ownFrom)?.['n'])

const startedMs = performance.now()
await using importing = startCommandProcess({
  args: ['db', 'import', file, '--db', gateway.databaseFile],
  directory: dir.path,
})
const ended = { importedS: 0 }
void importing.exited.then(() => (ended.importedS = (performance.now() - startedMs) / 1000))
const [rowMs, questionMs]: [number[], number[]] = [[], []]
while (ended.importedS === 0) {
  const answer = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"model":"m","messages":[{"role":"user","content":"hello"}]}',
  })
  await answer.text()
  const endedMs = performance.now()
  while (rows() <= rowMs.length) await delay(2)
  rowMs.push(performance.now() - endedMs)
  if (rowMs.length % 20 > 0) continue
  const askedMs = performance.now()
  const reader = openCallReader(gateway.databaseFile)
  if (typeof reader === 'object') await fiftyAnswers(reader, range)
  questionMs.push((performance.now() - askedMs) / 50)
}
const imported = database.prepare('SELECT count(*) AS n FROM calls WHERE source_id IS NOT NULL').get()?.['n']
const told = (list: readonly number[]): string => {
  const sorted = list.toSorted((a, b) => a - b)
  const at = (part: number): string => (sorted[Math.floor(part * (sorted.length - 1))] ?? 0).toFixed(0)
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, at most ${at(1)} ms`
}
console.log(
  `measured: ${String(imported)} calls imported beside a gateway at ${Math.round(calls / ended.importedS)} a second; ` +
    `its ${rowMs.length} rows were there after ${told(rowMs)}; questions took ${told(questionMs)}`,
)
if (Math.max(...rowMs) > 1000 || imported !== calls) process.exitCode = 1
