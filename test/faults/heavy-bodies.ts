/**
 * Bodies that would hold up who parses them: JSON five million levels deep, 60 MB of prompt, 61 MB of embeddings.
 * `node test/faults/heavy-bodies.ts [--limit-ms 50]`. Ends with 1 where the event loop stood still for longer.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { once } from 'node:events'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import type { CrowdTask } from './crowd-worker.ts'

const { values } = parseArgs({ options: { 'limit-ms': { type: 'string', default: '50' } } })
const depth = 5_000_000
const promptBytes = 60_000_000
const embeddingsBytes = 61_000_000
const settleMs = 300

const task: CrowdTask = { role: 'upstream', largeBytes: embeddingsBytes }
const upstream = new Worker(new URL('crowd-worker.ts', import.meta.url), { workerData: task })
const [baseUrl] = (await once(upstream, 'message')) as [string]
await using dir = await makeTempDir()
await using gateway = await startGatewayProcess({
  upstream: baseUrl,
  nodeArgs: ['--import', new URL('loop-delay.ts', import.meta.url).href],
  env: { TOKENWEIR_LOOP_DELAY: dir.file('delay') },
})

async function call(target: string, body: string): Promise<string> {
  const response = await fetch(`${gateway.origin}${target}`, { method: 'POST', body })
  const { byteLength } = await response.arrayBuffer()
  return `${response.status}, ${byteLength} bytes`
}

const bodies: readonly (readonly [string, string, string])[] = [
  [
    'deep JSON',
    '/v1/chat/completions?json',
    `{"model":"m","messages":${'['.repeat(depth)}${']'.repeat(depth)}}`,
  ],
  [
    '60 MB of prompt',
    '/v1/chat/completions?json',
    `{"model":"m","messages":[{"role":"user","content":"${'x'.repeat(promptBytes)}"}]}`,
  ],
  ['61 MB of embeddings', '/v1/embeddings?large', '{"model":"m","input":"a"}'],
]
await call('/v1/chat/completions?json', '{"model":"m"}')
await delay(settleMs)
const words: string[] = []
let worstMs = 0
for (const [name, target, body] of bodies) {
  process.kill(gateway.pid, 'SIGUSR2')
  const answer = await call(target, body)
  await delay(settleMs)
  const stoodMs = Number(readFileSync(dir.file('delay'), 'latin1'))
  worstMs = Math.max(worstMs, stoodMs)
  words.push(`${name} ${stoodMs.toFixed(0)} ms`)
  console.log(`${name}: ${answer}, the event loop stood still for ${stoodMs.toFixed(0)} ms at most`)
}
await upstream.terminate()
console.log(`measured: longest standstill of the event loop: ${words.join(', ')}`)
if (worstMs > Number(values['limit-ms'])) process.exitCode = 1
