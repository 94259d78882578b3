/**
 * Records about 2,000 calls a second that each last 200 ms, and some that never end, or as many as are written, until it
 * is killed:
 * `node kill-child.ts <db> <instance> <witness>`. The witness file gets `b <id>` after a call's begin, `f <id> <wall time>`
 * before its finish, and `w <count>` once so many that finished are rows; `ready` goes to stdout once the calls that
 * ended while the database was being opened are rows.
 */
import { mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { CallIds } from '../../src/call/call-id.ts'
import { takeInstanceNumber } from '../../src/store/sqlite/instance-number.ts'
import { WriterThread } from '../../src/store/write/writer-thread.ts'
import { callStart, chatCall } from './sample-call.ts'

const [dbPath = '', instance = '', witness = ''] = process.argv.slice(2)
const file = openSync(witness, 'a')
mkdirSync(dirname(dbPath), { recursive: true, mode: 0o700 })
const number = takeInstanceNumber(dirname(dbPath))
const ids = new CallIds(() => Date.now(), number.value)
const writer = new WriterThread({ dbPath, instance, number, version: '0' })
const running: ReturnType<typeof callStart>[] = []
const callsPerTick = 10
/** One of so many calls never ends. */
const callsPerEndless = 100
const mostPerTick = 10 * callsPerTick
/** What waits beyond the bound of the writer's memory would be dropped, which on a busy machine comes to pass. */
const mostPending = 5000
const leastWritten = 100
const startedMs = performance.now()
let begun = 0
let finished = 0
let told = 0
let readyAt = Number.POSITIVE_INFINITY
let isReady = false

setInterval(() => {
  const due = Math.floor(((performance.now() - startedMs) / 5) * callsPerTick)
  const { written, pending } = writer.figures()
  const allowed = pending < mostPending ? begun + mostPerTick : begun
  for (const until = Math.min(due, allowed); begun < until; begun++) {
    const id = ids.next()
    const call = callStart(id)
    writer.begin(call)
    writeSync(file, `b ${id}\n`)
    if (begun % callsPerEndless !== 0) running.push(call)
  }
  while (running.length > 400) {
    const call = running.shift()!
    writeSync(file, `f ${call.id} ${Date.now()}\n`)
    writer.finish(Object.assign(call, chatCall(call.id), { instance }))
    finished++
  }
  if (written > told) writeSync(file, `w ${written}\n`)
  told = written
  if (written > 0) readyAt = Math.min(readyAt, Math.max(finished, leastWritten))
  if (!isReady && written >= readyAt) {
    isReady = true
    console.log('ready')
  }
}, 5)
