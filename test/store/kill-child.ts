/**
 * Records about 2,000 calls a second until it is killed: `node kill-child.ts <db> <instance> <witness>`. The
 * witness file gets `b <id>` after a call's begin and `f <id> <wall time>` before its finish; `ready` goes to stdout
 * once the calls that ended while the database was being opened are rows.
 */
import { openSync, writeSync } from 'node:fs'
import { CallIds } from '../../src/call/call-id.ts'
import { WriterThread } from '../../src/store/writer-thread.ts'
import { callStart, chatCall } from './sample-call.ts'

const [dbPath = '', instance = '', witness = ''] = process.argv.slice(2)
const file = openSync(witness, 'a')
const ids = new CallIds(() => Date.now())
const writer = new WriterThread({ dbPath, instance, version: '0' })
const running: number[] = []
const callsPerTick = 10
const startedMs = performance.now()
let begun = 0
let isReady = false

setInterval(() => {
  const due = Math.floor(((performance.now() - startedMs) / 5) * callsPerTick)
  for (; begun < due; begun++) {
    const id = ids.next()
    void writer.begin(callStart(id)).then(() => {
      writeSync(file, `b ${id}\n`)
      running.push(id)
    })
  }
  while (running.length > 100) {
    const id = running.shift()!
    writeSync(file, `f ${id} ${Date.now()}\n`)
    writer.finish({ ...chatCall(id), instance })
  }
  const { written, pending } = writer.figures()
  if (!isReady && written > 0 && pending < 2 * callsPerTick * (50 / 5)) {
    isReady = true
    console.log('ready')
  }
}, 5)
