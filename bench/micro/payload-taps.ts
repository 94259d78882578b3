/**
 * What logging of payloads costs the thread that serves calls: `node bench/micro/payload-taps.ts [calls]`. Copies of
 * calls with 2 kB each way, and of streams of 500 events, on their way into batches for the payload log's thread,
 * at a pace that this thread keeps. Prints microseconds a call; asserts nothing.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { CallIds } from '../../src/call/call-id.ts'
import { PayloadLog } from '../../src/payloads/payload-log.ts'
import { endedRecord, payloadCall } from '../../test/payloads/imagined-call.ts'

const calls = Number(process.argv[2] ?? 6000)
const folder = mkdtempSync(join(tmpdir(), 'tokenweir-bench-'))
const ids = new CallIds(() => Date.now(), 1)
const headers = Array.from({ length: 12 }, (_, at) => [
  `X-Header-Name-${at}`,
  `some value of header ${at}`,
]).flat()
const content = 'lorem ipsum '.repeat(160)
const body = Buffer.from(JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content }] }))
const delta = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: { content: 'hello ' } }],
}
const event = Buffer.from(`data: ${JSON.stringify(delta)}\n\n`)

function passBy(log: PayloadLog, events: number): void {
  const id = ids.next()
  const tap = log.begin(payloadCall({ id, headers }))
  if (tap === null) return
  tap.requestData(body)
  tap.requestEnd('gpt-5-mini', events > 0)
  tap.answerHead(200, events > 0 ? [...headers, 'Content-Type', 'text/event-stream'] : headers)
  for (let sent = 0; sent < events; sent++) tap.answerData(event, sent)
  if (events === 0) tap.answerData(body, 1)
  tap.ended(endedRecord(id))
}

async function measure(what: string, events: number, perRound: number): Promise<void> {
  const filePath = join(folder, what, 'payloads.jsonl')
  const sizes = { maxBodyBytes: 2 ** 20, totalBytes: 2 ** 30 }
  const log = new PayloadLog({
    filePath,
    ...sizes,
    capture: { kind: 'all' },
    salt: Buffer.alloc(16),
    idBits: 1,
    enabled: true,
  })
  const rounds = Math.ceil(calls / perRound)
  const figures: number[] = []
  for (let round = 0; round < rounds; round++) {
    const begunAtMs = performance.now()
    for (let at = 0; at < perRound; at++) passBy(log, events)
    figures.push(((performance.now() - begunAtMs) * 1000) / perRound)
    await delay(events > 0 ? 15 : 5)
  }
  figures.sort((one, other) => one - other)
  const [median = 0, p95 = 0] = [figures[rounds >> 1], figures[Math.floor(rounds * 0.95)]]
  await log.close()
  console.log(
    `${what.padEnd(30)} median ${median.toFixed(1)}  p95 ${p95.toFixed(1)} µs   lost ${log.status().dropped} records`,
  )
}

try {
  await measure('2 kB each way', 0, 20)
  await measure('streams of 500 events', 500, 4)
} finally {
  rmSync(folder, { recursive: true })
}
