/**
 * What the observers cost by themselves: `node --expose-gc bench/micro/meter.ts`.
 * Prints medians of several rounds on one core; no time is asserted.
 */
import zlib from 'node:zlib'
import { blankRecord } from '../../src/call/call-record.ts'
import { CallMeter } from '../../src/gateway/meter/call-meter.ts'
import { RequestPeek } from '../../src/gateway/http/request-peek.ts'

const rounds = 9
const call = { callType: 'chat', method: 'POST' } as const
const draft = blankRecord()

function onFault(error: unknown): never {
  throw error
}

const jsonHead = {
  status: 200,
  statusText: 'OK',
  contentLength: null,
  headers: [
    'Date',
    'Thu, 01 Jan 2026 00:00:00 GMT',
    'Content-Type',
    'application/json',
    'x-request-id',
    'r-1',
  ],
}
const sseHead = { ...jsonHead, headers: ['Content-Type', 'text/event-stream; charset=utf-8'] }

function report(what: string, unit: string, perRound: number, work: () => void): void {
  for (let i = 0; i < 3; i++) work()
  const figures = Array.from({ length: rounds }, () => {
    const begun = process.hrtime.bigint()
    work()
    return Number(process.hrtime.bigint() - begun) / 1000 / perRound
  }).sort((a, b) => a - b)
  console.log(`${what.padEnd(58)} ${(figures[rounds >> 1] ?? 0).toFixed(3).padStart(9)} ${unit}`)
}

function requestBody(bytes: number): Buffer {
  const messages = [
    { role: 'system', content: 'You are "helpful".\nAnswer in one line.' },
    { role: 'user', content: 'word '.repeat(Math.max(1, (bytes - 260) / 5)) },
  ]
  return Buffer.from(
    JSON.stringify({ model: 'gpt-5-mini', messages, temperature: 0.2, max_tokens: 300, stream: true }),
  )
}

function answerBody(bytes: number): Buffer {
  const usage = {
    prompt_tokens: 2006,
    completion_tokens: 300,
    total_tokens: 2306,
    prompt_tokens_details: { cached_tokens: 1920, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 128, audio_tokens: 0 },
  }
  const message = { role: 'assistant', content: 'x'.repeat(Math.max(1, bytes - 480)), refusal: null }
  return Buffer.from(
    JSON.stringify({
      id: 'chatcmpl-AbCdEf0123456789',
      object: 'chat.completion',
      created: 1767225600,
      model: 'gpt-5-mini-2026-01-01',
      choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
      usage,
      service_tier: 'default',
    }),
  )
}

function event(content: string, extra: object = {}): Buffer {
  const chunk = {
    id: 'chatcmpl-AbCdEf0123456789AbCdEf01',
    object: 'chat.completion.chunk',
    created: 1767225600,
    model: 'gpt-5-mini-2026-01-01',
    service_tier: 'default',
    system_fingerprint: 'fp_0123456789',
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
    ...extra,
  }
  return Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`)
}

for (const bytes of [300, 1500, 20_000]) {
  const body = requestBody(bytes)
  const n = 20_000
  report(`request peek, ${body.length} B in one chunk`, 'us', n, () => {
    for (let i = 0; i < n; i++) {
      const peek = new RequestPeek()
      peek.push(body)
      peek.result()
    }
  })
}

for (const bytes of [700, 1500]) {
  const body = answerBody(bytes)
  const n = 20_000
  report(`JSON answer, ${body.length} B, meter from start to reading`, 'us', n, () => {
    for (let i = 0; i < n; i++) {
      const meter = new CallMeter(call, false, 0, onFault)
      meter.responseStart(jsonHead)
      meter.data(body, 2)
      meter.end(true)
      meter.complete(draft)
    }
  })
}

for (const [coding, encode] of [
  ['gzip', zlib.gzipSync],
  ['br', zlib.brotliCompressSync],
  ['zstd', zlib.zstdCompressSync],
] as const) {
  const body = encode(answerBody(1500))
  const codedHead = { ...jsonHead, headers: [...jsonHead.headers, 'Content-Encoding', coding] }
  const n = 1000
  report(`JSON answer, 1490 B in ${coding}, meter from start to reading`, 'us', n, () => {
    for (let i = 0; i < n; i++) {
      const meter = new CallMeter(call, false, 0, onFault)
      meter.responseStart(codedHead)
      meter.data(body, 2)
      meter.end(true)
      meter.complete(draft)
    }
  })
}

const usage = { prompt_tokens: 12, completion_tokens: 34, total_tokens: 46 }
const kinds: readonly [string, Buffer][] = [
  ['ordinary', event(' token')],
  ['usage:null', event(' token', { usage: null })],
  ['usage in every event', event(' token', { usage })],
]
for (const [kind, bytes] of kinds) {
  const events = 500
  const streams = 40
  report(`SSE event, ${kind}, ${bytes.length} B, one per write`, 'us', events * streams, () => {
    for (let s = 0; s < streams; s++) {
      const meter = new CallMeter(call, true, 0, onFault)
      meter.responseStart(sseHead)
      for (let i = 0; i < events; i++) meter.data(bytes, 2 + i)
      meter.end(true)
    }
  })
}

const joined = Buffer.concat(Array.from({ length: 250 }, () => event(' token')))
report(`SSE event, 250 in a chunk of ${joined.length} B`, 'us', 250 * 100, () => {
  const meter = new CallMeter(call, true, 0, onFault)
  meter.responseStart(sseHead)
  for (let i = 0; i < 100; i++) meter.data(joined, i)
  meter.end(true)
})

const vector = Array.from({ length: 1536 }, (_, i) => Math.sin(i) / 30)
const vectors = Buffer.from(
  `{"object":"list","data":[${Array.from({ length: 100 }, () => JSON.stringify({ object: 'embedding', embedding: vector })).join()}],"usage":{"prompt_tokens":8,"total_tokens":8}}`,
)
report(`embeddings as floats, ${(vectors.length / 1e6).toFixed(1)} MB in chunks of 64 kB`, 'us', 1, () => {
  const meter = new CallMeter({ callType: 'embedding', method: 'POST' }, false, 0, onFault)
  meter.responseStart(jsonHead)
  for (let at = 0; at < vectors.length; at += 65_536) meter.data(vectors.subarray(at, at + 65_536), 2)
  meter.end(true)
})

const collect = globalThis.gc
if (collect !== undefined) {
  // Kept to the end, so that no later figure is flattered by what is freed.
  const kept: CallMeter[] = []
  for (const events of [0, 1, 50, 400]) {
    const count = 5000
    collect()
    collect()
    const before = process.memoryUsage()
    const bytes = event(' token')
    const open = Array.from({ length: count }, () => {
      const meter = new CallMeter(call, true, 0, onFault)
      meter.responseStart(sseHead)
      for (let i = 0; i < events; i++) meter.data(bytes, 2 + i * 20 + (i % 7))
      return meter
    })
    kept.push(...open)
    collect()
    collect()
    const after = process.memoryUsage()
    const heap = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers
    console.log(
      `${`open stream after ${events} events`.padEnd(58)} ${(heap / count).toFixed(0).padStart(9)} B`,
    )
  }
  console.log(`${kept.length} meters kept`)
}
