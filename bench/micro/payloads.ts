/**
 * What a record of the raw log costs its thread: `node bench/micro/payloads.ts`.
 * Prints CPU time, the least of several rounds, as other work on the machine only adds to it; no time is asserted.
 */
import { maskKeyBytes } from '../../src/secrets/key-shapes.ts'
import { RecordComposer } from '../../src/payloads/record/compose-record.ts'
import type { RawAnswer, RawRequest } from '../../src/payloads/record/raw-payload.ts'

const rounds = 9
const roundMs = 100

function microseconds(work: () => void): number {
  let times = 1
  for (let took = 0; took < roundMs; times *= 2) took = cpuMs(work, times)
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round++) least = Math.min(least, cpuMs(work, times) / times)
  return least * 1000
}

function cpuMs(work: () => void, times: number): number {
  const begun = process.cpuUsage()
  for (let i = 0; i < times; i++) work()
  const { user, system } = process.cpuUsage(begun)
  return (user + system) / 1000
}

function report(what: string, figure: number, unit: string): void {
  console.log(`${what.padEnd(58)} ${figure.toFixed(1).padStart(9)} ${unit}`)
}

const sentences =
  'The quick brown fox jumps over the lazy dog; then "everyone" goes home.\nIt costs 128 tokens or so, says file-reader_v2. '

function prose(bytes: number): string {
  return sentences.repeat(Math.ceil(bytes / sentences.length)).slice(0, bytes)
}

function requestBody(bytes: number): Buffer {
  const messages = Array.from({ length: Math.max(1, Math.round(bytes / 4000)) }, () => ({
    role: 'user',
    content: prose(Math.min(bytes - 250, 3900)),
  }))
  return Buffer.from(
    JSON.stringify({ model: 'gpt-5-mini', messages, temperature: 0.2, max_tokens: 300, stream: true }),
  )
}

function answerBody(bytes: number): Buffer {
  return Buffer.from(
    JSON.stringify({
      id: 'chatcmpl-AbCdEf0123456789',
      object: 'chat.completion',
      created: 1767225600,
      model: 'gpt-5-mini-2026-01-01',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: prose(bytes - 400) },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 2006, completion_tokens: 300, total_tokens: 2306 },
      service_tier: 'default',
    }),
  )
}

function event(content: string): string {
  const chunk = {
    id: 'chatcmpl-AbCdEf0123456789AbCdEf01',
    object: 'chat.completion.chunk',
    created: 1767225600,
    model: 'gpt-5-mini-2026-01-01',
    service_tier: 'default',
    system_fingerprint: 'fp_0123456789',
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
  }
  return `data: ${JSON.stringify(chunk)}\n\n`
}

const composer = new RecordComposer({ salt: Buffer.alloc(16), maxBodyBytes: 2 ** 20 })

function requestOf(body: Buffer): RawRequest {
  return {
    callId: 7_218_000_000_000_000,
    wallTimeMs: Date.UTC(2026, 10, 21),
    method: 'POST',
    path: '/v1/chat/completions',
    headers: [
      'Host',
      '127.0.0.1:4000',
      'Connection',
      'keep-alive',
      'Authorization',
      `Bearer sk-proj-${'aB3d'.repeat(12)}`,
      'Content-Type',
      'application/json',
      'Accept',
      'application/json',
      'User-Agent',
      'OpenAI/JS 7.55.0',
      'X-Stainless-Lang',
      'js',
      'X-Stainless-Package-Version',
      '7.55.0',
      'X-Stainless-OS',
      'Linux',
      'X-Stainless-Arch',
      'x64',
      'X-Stainless-Runtime',
      'node',
      'X-Stainless-Runtime-Version',
      'v24.21.0',
      'X-Stainless-Retry-Count',
      '0',
      'X-Stainless-Timeout',
      '600',
      'Content-Length',
      String(body.length),
    ],
    bytes: body,
    totalBytes: body.length,
    truncated: false,
    model: 'gpt-5-mini',
    stream: true,
  }
}

function answerOf(body: Buffer, contentType: string, chunks: number): RawAnswer {
  return {
    ...requestOf(body),
    headers: [
      'Date',
      'Thu, 01 Jan 2026 00:00:00 GMT',
      'Content-Type',
      contentType,
      'x-request-id',
      'req_0123456789',
      'openai-processing-ms',
      '412',
      'x-ratelimit-remaining-tokens',
      '149990',
      'cf-ray',
      '8f0a1b2c3d4e5f60-AMS',
      'Set-Cookie',
      '__cf_bm=aB3dE6gH9jK2mN5pQ8rS1tU4; path=/; HttpOnly',
      'x-tokenweir-call-id',
      '6d37t6b6800',
    ],
    status: 200,
    outcome: 'ok',
    failureCode: null,
    durationMs: 1234.5678,
    chunkOffsetsMs: Array.from({ length: chunks }, (_, i) => 400 + i * 11.37),
  }
}

for (const bytes of [2000, 100_000]) {
  const request = requestOf(requestBody(bytes))
  const answer = answerOf(answerBody(bytes), 'application/json', 1)
  report(
    `request of ${request.totalBytes} B`,
    microseconds(() => composer.composeRequest(request, 1)),
    'us',
  )
  report(
    `JSON answer of ${answer.totalBytes} B`,
    microseconds(() => composer.composeAnswer(answer, 1)),
    'us',
  )
}

const words = prose(10_000).split(/(?= )/)
const stream = Buffer.from(Array.from({ length: 500 }, (_, i) => event(words[i] ?? ' word')).join(''))
const streamed = answerOf(stream, 'text/event-stream', 500)
report(
  `streamed answer of 500 events, ${stream.length} B`,
  microseconds(() => composer.composeAnswer(streamed, 1)),
  'us',
)

for (const [what, bytes] of [
  ['JSON of a request', requestBody(100_000)],
  ['events of a stream', stream],
  ['an image in base64', Buffer.from(Buffer.alloc(75_000, 'image \x9a\x12').toString('base64'))],
] as const) {
  const took = microseconds(() => maskKeyBytes(bytes))
  report(`looking for credentials in ${what}, per kB`, (took * 1e6) / bytes.length, 'ns')
}
