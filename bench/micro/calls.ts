/**
 * What a call makes the gateway's main thread do, without a socket on either side: `node bench/micro/calls.ts
 * [json | stream]`. Prints a JSON object: what a call takes more than one that `node:http` alone answers. Bytes are those
 * allocated on the heap. No times: `p1` and `p2` measure them.
 */
import { createHook } from 'node:async_hooks'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { PerformanceObserver } from 'node:perf_hooks'
import { Worker } from 'node:worker_threads'
import { type MemoryClient, startBareInMemory, startGatewayInMemory } from './gateway-in-memory.ts'
import { jsonAnswer, requestBytes } from '../programs/prebuilt-messages.ts'

const kind = process.argv[2] ?? 'json'
const clientCount = 16
/** A stream takes ten times as long. */
const share = kind === 'stream' ? 0.25 : 1
const slices = kind === 'stream' ? 120 : 200
const callsPerSlice = 64
const warmCalls = 10_000 * share
const countedCalls = 5000 * share
const eventsPerStream = 50

/** Counters of the whole process. */
const counts = { fileWrites: 0, messages: 0, promises: 0, timers: 0, immediates: 0, ticks: 0 }

function countCalls(): void {
  const { writeSync } = fs
  fs.writeSync = ((...args: Parameters<typeof writeSync>) => {
    counts.fileWrites++
    return writeSync(...args)
  }) as typeof writeSync
  syncBuiltinESMExports()
  const post: unknown = Reflect.get(Worker.prototype, 'postMessage')
  Worker.prototype.postMessage = function countedPost(...args) {
    counts.messages++
    Reflect.apply(post as typeof countedPost, this, args)
  }
}

function counted<T>(work: () => Promise<T>): Promise<T> {
  const names: Readonly<Record<string, 'promises' | 'timers' | 'immediates' | 'ticks'>> = {
    PROMISE: 'promises',
    Timeout: 'timers',
    Immediate: 'immediates',
    TickObject: 'ticks',
    Microtask: 'ticks',
  }
  const hook = createHook({
    init: (_id, type) => {
      const name = names[type]
      if (name !== undefined) counts[name]++
    },
  }).enable()
  return work().finally(() => hook.disable())
}

function streamEvent(index: number): Buffer {
  const choice = `{"index":0,"delta":{"content":"word${index}"},"finish_reason":null}`
  const head = '"id":"c","object":"chat.completion.chunk","created":1700000000,"model":"sim-small"'
  return Buffer.from(`data: {${head},"choices":[${choice}]}\n\n`)
}

function jsonPiece(): Buffer {
  const answer = jsonAnswer()
  return answer.subarray(answer.indexOf('\r\n\r\n') + 4)
}

const body = jsonPiece()
const answer =
  kind === 'stream'
    ? {
        headers: ['Content-Type', 'text/event-stream'],
        pieces: [
          ...Array.from({ length: eventsPerStream }, (_, index) => streamEvent(index)),
          Buffer.from('data: [DONE]\n\n'),
        ],
      }
    : { headers: ['Content-Type', 'application/json', 'Content-Length', String(body.length)], pieces: [body] }
const request = requestBytes(1, kind === 'stream')
const end = kind === 'stream' ? Buffer.from('\r\n0\r\n\r\n') : body.subarray(-8)

async function run(clients: readonly MemoryClient[], count: number): Promise<void> {
  let left = count
  const callOn = async (client: MemoryClient): Promise<void> => {
    while (left-- > 0) {
      await client.ask(request, end)
      await new Promise(setImmediate)
    }
  }
  await Promise.all(clients.map(callOn))
}

type Figures = typeof counts & { readonly bytes: number }

/** Of one call. */
async function measure(connect: () => MemoryClient): Promise<Figures> {
  const clients = Array.from({ length: clientCount }, connect)
  await run(clients, warmCalls)
  const bytes = await bytesOfSlices(clients)
  const before = { ...counts }
  await counted(() => run(clients, countedCalls))
  const perCall = Object.entries(counts).map(([name, count]) => [
    name,
    (count - before[name as keyof typeof counts]) / countedCalls,
  ])
  return { ...Object.fromEntries(perCall), bytes }
}

/**
 * Of one call, in the tenth of the slices that take least: what goes by time, as sending batches does, falls into others, and
 * into more of them on a slow machine. Slices in which garbage was collected, or right before, are left out.
 */
async function bytesOfSlices(clients: readonly MemoryClient[]): Promise<number> {
  let collections = 0
  const observer = new PerformanceObserver((list) => void (collections += list.getEntries().length))
  observer.observe({ entryTypes: ['gc'] })
  const bytes: number[] = []
  let wasCollected = true
  for (let slice = 0; slice < slices; slice++) {
    const collected = collections
    const before = process.memoryUsage().heapUsed
    await run(clients, callsPerSlice)
    const grown = process.memoryUsage().heapUsed - before
    // The observer reports collections in a later turn.
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
    const isCollected = collections > collected
    if (!isCollected && !wasCollected) bytes.push(grown / callsPerSlice)
    wasCollected = isCollected
  }
  observer.disconnect()
  return bytes.toSorted((one, other) => one - other)[Math.floor(bytes.length / 10)] ?? 0
}

countCalls()
const bare = await measure(startBareInMemory(answer).connect)
await using gateway = await startGatewayInMemory(answer)
const whole = await measure(gateway.connect)
const more = Object.keys(bare).map((name) => {
  const key = name as keyof Figures
  return [name, Number((whole[key] - bare[key]).toFixed(key === 'bytes' ? 0 : 2))]
})
console.log(JSON.stringify(Object.fromEntries(more)))
