/**
 * Four upstreams behind one gateway under 200 calls a second, while each in turn is killed, frozen and slowed down, and their file
 * is changed a hundred times: `node test/faults/upstreams-under-load.ts [--calls-per-s 200] [--phase-s 6]`. Then what a prompt
 * cache is worth that calls of a session find again. Ends with 1 where a call failed but one
 * that a killed upstream had been sent, or where one was not recorded once. `measured:` is the last line.
 */
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { LlamaUpstream } from '../support/llama-upstream-process.ts'
import { asRecord } from '../support/json-record.ts'
import { readCalls } from '../support/recorded-calls.ts'
import { startGatewayOfUpstreams, untilUpstreams, writeUpstreams } from '../support/upstreams-file.ts'

const { values } = parseArgs({
  options: { 'calls-per-s': { type: 'string', default: '200' }, 'phase-s': { type: 'string', default: '6' } },
})
const everyMs = 1000 / Number(values['calls-per-s'])
const phaseMs = Number(values['phase-s']) * 1000

await using byDefault = await LlamaUpstream.start()
await using one = await LlamaUpstream.start()
await using two = await LlamaUpstream.start()
await using claude = await LlamaUpstream.start()
const local = { name: 'local', urls: [one.origin, two.origin], models: ['llama*'], max_concurrent: 64 }
const named = [
  local,
  { name: 'claude', urls: [claude.origin], models: ['claude-*'], max_concurrent: 64, fallback: 'local' },
]
await using gateway = await startGatewayOfUpstreams({
  upstream: byDefault.origin,
  named,
  args: ['--max-concurrent', '64', '--slot-cooldown-ms', '0', '--connect-retry-ms', '10000'],
})

const agent = new Agent({ keepAlive: true, maxSockets: 400 })
const kinds = [
  ['llama-3', '/v1/chat/completions'],
  ['gpt', '/v1/chat/completions'],
  ['claude-opus', '/v1/messages'],
  ['any', '/local/v1/chat/completions'],
] as const
let sent = 0

/** How it ended: `ok`, `cut`, or the message of the gateway's error. */
async function call(path: string, body: object): Promise<string> {
  try {
    const headers = { 'content-type': 'application/json' }
    const req = request({ port: gateway.port, host: '127.0.0.1', method: 'POST', path, agent, headers })
    req.end(JSON.stringify(body))
    const [response] = (await once(req, 'response')) as [IncomingMessage]
    const answer = asRecord(JSON.parse(await text(response)))
    return response.statusCode === 200 ? 'ok' : String(asRecord(answer['error'])['message'])
  } catch {
    return 'cut'
  }
}

/** Calls at a steady pace for a while, and how they ended once all are over. */
async function load(ms: number, meanwhile: () => Promise<void>): Promise<readonly string[]> {
  const calls: Promise<string>[] = []
  const startedMs = performance.now()
  const work = meanwhile()
  for (let at = 0; at * everyMs < ms; at++) {
    const n = ++sent
    const [model, path] = kinds[n % kinds.length] ?? kinds[0]
    const body = { model, max_tokens: 8, messages: [{ role: 'user', content: `call ${n}` }] }
    calls.push(call(path, body))
    const aheadMs = startedMs + at * everyMs - performance.now()
    if (aheadMs > 1) await sleep(aheadMs)
  }
  await work
  return Promise.all(calls)
}

const findings: string[] = []
let isSound = true
/** What is said of a call that had been sent. */
const endedByUpstream = /closed the connection|ECONNRESET/
/** Where an upstream is killed, calls that were sent to it may fail, as they are never sent twice. */
async function phase(name: string, meanwhile: () => Promise<void>, isKilled = false): Promise<void> {
  const ends = await load(phaseMs, meanwhile)
  const failed = ends.filter((end) => end !== 'ok')
  console.log(`${name}: ${ends.length} calls, ${failed.length} failed: ${failed.join(', ') || 'none'}`)
  if (!failed.every((end) => isKilled && (end === 'cut' || endedByUpstream.test(end)))) isSound = false
  findings.push(`${name} ${failed.length}`)
}

async function killed(upstream: LlamaUpstream): Promise<void> {
  await sleep(phaseMs / 4)
  await upstream.kill()
  await sleep(phaseMs / 2)
  await upstream.startAgain()
}

async function frozen(upstream: LlamaUpstream): Promise<void> {
  await sleep(phaseMs / 4)
  upstream.signal('SIGSTOP')
  await sleep(phaseMs / 3)
  upstream.signal('SIGCONT')
}

async function slowed(upstream: LlamaUpstream): Promise<void> {
  await fetch(`${upstream.origin}/slow/500`, { method: 'POST' })
  await sleep(phaseMs / 2)
  await fetch(`${upstream.origin}/slow/0`, { method: 'POST' })
}

const all = { default: byDefault, 'first replica': one, 'second replica': two, claude }
for (const [name, upstream] of Object.entries(all)) {
  await phase(`${name} killed`, () => killed(upstream), true)
  await phase(`${name} frozen`, () => frozen(upstream))
  await phase(`${name} slowed`, () => slowed(upstream))
}
await phase('a hundred edits', async () => {
  for (let edit = 0; edit < 100; edit++) {
    const added = { name: `more-${edit}`, urls: [two.origin], models: [`m${edit}-*`] }
    const limit = {
      ...local,
      max_concurrent: 32 + (edit % 32),
      urls: edit % 2 === 0 ? local.urls : [one.origin],
    }
    writeUpstreams(
      gateway.directory,
      edit % 3 === 0 ? [limit, ...named.slice(1)] : [added, limit, ...named.slice(1)],
    )
    await sleep(phaseMs / 110)
  }
})
writeUpstreams(gateway.directory, named)
await untilUpstreams(gateway, 'the last edit is read', (upstreams) => upstreams.length === 3)

/** The part of the prompts that was cached, in sessions that grow turn by turn, and the median of their calls' times. */
async function cachedShare(isKeyed: boolean): Promise<{ readonly share: number; readonly medianMs: number }> {
  const fromN = sent + 1
  const agents = Array.from({ length: 8 }, async (_, who) => {
    let content = `agent ${who} ${isKeyed ? 'keyed' : 'plain'} `.repeat(200)
    for (let turn = 0; turn < 30; turn++) {
      const body = {
        model: 'llama-3',
        messages: [{ role: 'user', content }],
        ...(isKeyed && { prompt_cache_key: `agent-${who}` }),
      }
      sent++
      await call('/v1/chat/completions', body)
      content += `turn ${turn} of ${who}, and what came of it. `.repeat(5)
    }
  })
  await Promise.all(agents)
  await untilRecorded()
  const rows = readCalls(gateway.databaseFile).slice(fromN - 1)
  const input = rows.reduce((sum, row) => sum + (row.input_tokens ?? 0), 0)
  const cached = rows.reduce((sum, row) => sum + (row.cached_input_tokens ?? 0), 0)
  const times = rows.map((row) => row.ttfb_ms ?? 0).toSorted((a, b) => a - b)
  return { share: cached / input, medianMs: times[times.length >> 1] ?? NaN }
}

async function untilRecorded(): Promise<void> {
  for (let waitedMs = 0; waitedMs < 10_000; waitedMs += 100) {
    if (readCalls(gateway.databaseFile).length >= sent) return
    await sleep(100)
  }
}

const plain = await cachedShare(false)
const keyed = await cachedShare(true)
await untilRecorded()
const rows = readCalls(gateway.databaseFile).length
if (rows !== sent || keyed.share <= plain.share) isSound = false
agent.destroy()
const percent = (share: number): string => `${(100 * share).toFixed(0)} %`
console.log(
  `measured: ${sent} calls, ${rows} rows; failed: ${findings.join(', ')}; cached of prompts ${percent(plain.share)} without and ${percent(keyed.share)} with a session, first byte ${plain.medianMs.toFixed(1)} and ${keyed.medianMs.toFixed(1)} ms`,
)
process.exitCode = isSound ? 0 : 1
