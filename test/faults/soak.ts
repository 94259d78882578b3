/**
 * A busy day in an hour: `node test/faults/soak.ts [--minutes 60] [--seed 45]`. `tokenweir up` before an upstream that
 * answers as it is planned, with what such a day brings: peaks that fill slots and queue, long streams, agents, large
 * prompts, clients that leave, an incident at the upstream, a page that is open, payloads, prices, restarts, a `kill -9`,
 * copies of the database. Clients and upstream keep books of their own; in the end rows, tokens and costs must be
 * theirs, and memory, descriptors and files have stayed within bounds. Ends with 1 where something did not hold.
 */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import { assertWithin } from '../support/assert-within.ts'
import { balance, readRows } from './soak/day-books.ts'
import { dayFaults, hourLine, quantile } from './soak/day-limits.ts'
import { slots, startDayPlace } from './soak/day-place.ts'
import { hoursOfDay } from './soak/day.ts'

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '60' }, seed: { type: 'string', default: '45' } },
})
const minutes = Number(values.minutes)
const dayMs = minutes * 60_000
const keepDays = 30
/** Of calls that are there before, some of which are to be folded. */
const past = { calls: 10_000, days: 45 } as const
/** The first look at what is too old comes ten seconds after a start, and waits for a moment without calls. */
const foldedFromMinutes = 3
const healthP99Ms = 200
const overviewP95Ms = 600

const over = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    process.exitCode = 130
    over.abort()
  })

let startedMs = performance.now()
const hour = (): number => ((performance.now() - startedMs) / dayMs) * hoursOfDay
await using place = await startDayPlace({
  seed: Number(values.seed),
  hour,
  sampleEveryMs: Math.max(200, dayMs / 2000),
  args: ['--first-byte-timeout-ms', '8000', '--keep-days', String(keepDays), '--raw-log-max-mb', '2'],
  prepare: async (directory) => {
    const generator = fileURLToPath(new URL('../../bench/generate-calls.ts', import.meta.url))
    const pastCalls = ['--calls', String(past.calls), '--days', String(past.days), '--seed', values.seed]
    const out = ['--out', join(directory, 'data', 'llm_telemetry.db')]
    await promisify(execFile)(process.execPath, [generator, ...pastCalls, ...out])
  },
})
const { directory, databaseFile, clients, upstream, watch, chores } = place
startedMs = performance.now()
const since = new Date().toISOString()
clients.start(hour)

const faults: string[] = []
const done: string[] = []
let chore: Promise<void> | null = null
let next = 0
let printed = 0
/** Chores that take longer than their hours go on into the night. */
while (!over.signal.aborted && (hour() < hoursOfDay || next < chores.table.length || chore !== null)) {
  const [at, name, work] = chores.table[next] ?? [Infinity, '', null]
  if (chore === null && work !== null && hour() >= at) {
    next += 1
    chore = work()
      .then(
        () => void done.push(name),
        (error: unknown) => void faults.push(`${name}: ${String(error)}`),
      )
      .finally(() => {
        chore = null
      })
  }
  await sleep(20)
  for (; printed < Math.min(Math.floor(hour()), hoursOfDay); printed++)
    console.log(hourLine(printed, clients.calls.length, clients.open, watch.samples.at(-1), done.splice(0)))
}

// Told to end, it still waits for what is being done: a restart leaves no gateway behind.
await chore
if (!over.signal.aborted) {
  await clients.stop()
  const drained = await place.settled()
  await watch.stop()
  await chores.setPrices(1)
  await chores.reprice()
  const files = await place.filesBack(drained.pid ?? 0)
  const check = await chores.run('db', 'check', '--full')
  if (check.code !== 0) faults.push(`db check: ${check.text}`)
  const rows = readRows(databaseFile, since)
  const books = balance(rows, clients.calls, upstream, chores.killedAtMs)
  faults.push(...books.faults, ...watch.troubles)
  const old = new Date(Date.now() - (keepDays + 1) * 24 * 3_600_000).toISOString()
  const kept = readRows(databaseFile, '').length - readRows(databaseFile, old).length
  if (minutes >= foldedFromMinutes && kept > 0) faults.push(`${kept} calls that are too old are still there`)
  if (upstream.inFlight.most > slots) faults.push(`${upstream.inFlight.most} calls at once at the upstream`)
  const log = readFileSync(join(directory, 'data', 'proxy.log'), 'utf8')
  const limits = dayFaults(watch.samples, log, minutes, chores.killedAtMs.length)
  faults.push(...limits.faults, ...files.faults)
  for (const { code, message } of drained.health?.warnings ?? []) faults.push(`warning ${code}: ${message}`)
  const { dropped = 0 } = drained.health?.telemetry ?? {}
  if (dropped > 0) faults.push(`${dropped} records dropped`)

  console.log(['| kind | calls | outcomes |', '|---|---|---|'].join('\n'))
  for (const [kind, { calls, outcomes }] of books.byKind) console.log(`| ${kind} | ${calls} | ${outcomes} |`)
  for (const fault of faults.slice(0, 40)) console.log(`  ✗ ${fault}`)
  if (faults.length > 40) console.log(`  ✗ … and ${faults.length - 40} more`)
  const [healthMs, overviewMs] = [quantile(watch.healthMs, 0.99), quantile(watch.overviewMs, 0.95)]
  console.log(
    `measured: ${minutes} minutes, ${clients.calls.length} calls, ${books.rows} rows, ${books.interrupted} interrupted by ${chores.killedAtMs.length} kill ` +
      `(had ended up to ${books.lostMs.toFixed(0)} ms before), ${chores.restarts} restarts; ` +
      `${books.tokens.rows} tokens of ${books.tokens.books}, ${books.usd.rows.toFixed(4)} of ${books.usd.books.toFixed(4)} USD; ` +
      `at most ${upstream.inFlight.most} of ${slots} at the upstream; ${limits.words}; ${files.words}; ` +
      `/health p99 ${healthMs.toFixed(0)} ms, overview p95 ${overviewMs.toFixed(0)} ms; ${faults.length} faults`,
  )
  if (faults.length > 0) process.exitCode = 1
  assertWithin(healthP99Ms, healthMs, '/health, 99 of 100,')
  assertWithin(overviewP95Ms, overviewMs, 'the overview, 95 of 100,')
}
