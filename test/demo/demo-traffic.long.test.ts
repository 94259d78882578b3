import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import type { CallJson } from '../../src/call/call-record.ts'
import { type DemoTraffic, startDemoTraffic } from '../../src/demo/demo-traffic.ts'
import { startDemoUpstream } from '../../src/demo/demo-upstream.ts'
import { eventually } from '../support/eventually.ts'
import { fastClock } from '../support/fast-clock.ts'
import { freePort } from '../support/free-port.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { asRecord } from '../support/json-record.ts'
import { readCalls } from '../support/recorded-calls.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { assertWithin } from '../support/assert-within.ts'

const clock = fastClock(20)

function startTraffic(gateway: GatewayProcess): DemoTraffic {
  return startDemoTraffic({ gatewayBaseUrl: gateway.baseUrl, clock, random: seededRandom(2) })
}

test('calls of every kind are recorded within seconds, some had to wait, and some were left', async () => {
  await using upstream = await startDemoUpstream({ clock, random: seededRandom(1) })
  await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl })
  await using traffic = startTraffic(gateway)
  const kinds: Record<string, (call: CallJson) => boolean> = {
    'streamed chat': ({ call_type: type, stream }) => type === 'chat' && stream,
    'whole chat': ({ endpoint, stream }) => endpoint === '/v1/chat/completions' && !stream,
    'legacy completion': ({ endpoint }) => endpoint === '/v1/completions',
    embedding: ({ call_type: type }) => type === 'embedding',
    'list of models': ({ endpoint }) => endpoint === '/v1/models',
    'tool call': ({ finish_reason: reason }) => reason === 'tool_calls',
    'thinking model': ({ reasoning_tokens: tokens }) => (tokens ?? 0) > 0,
    'cached prompt': ({ cached_input_tokens: tokens }) => (tokens ?? 0) > 0,
    'call that waited': ({ queue_ms: ms }) => (ms ?? 0) > 5,
    'call that was left': ({ outcome }) => outcome === 'client_disconnected',
    'call of a session': ({ session }) => session?.startsWith('agent-') === true,
  }
  const missing = new Set(Object.keys(kinds))
  await waitForCalls(gateway)
  await eventually(
    'all kinds are recorded',
    () => {
      const calls = readCalls(gateway.databaseFile)
      for (const kind of missing) if (calls.some((call) => kinds[kind]!(call))) missing.delete(kind)
      return missing.size === 0
    },
    60_000,
  ).catch((cause) => {
    throw new Error(`no ${[...missing].join(', ')}`, { cause })
  })
  await traffic.close()
  const clients = new Set(readCalls(gateway.databaseFile).map(({ client }) => client))
  assert.ok(clients.size >= 4 && [...clients].every((client) => client?.startsWith('demo-')))
})

test('the traffic comes back when the gateway does', async () => {
  await using directory = await makeTempDir()
  await using upstream = await startDemoUpstream({ clock })
  const start = (port: number): Promise<GatewayProcess> =>
    startGatewayProcess({
      upstream: upstream.baseUrl,
      directory: directory.path,
      args: ['--port', String(port)],
    })
  // One that the second can be given too: what the system gives to any may be given to others in between.
  await using first = await start(await freePort())
  await using _traffic = startTraffic(first)
  await waitForCalls(first)
  await first.kill9()
  // Long enough that some clients have found it gone more than once: their time runs twenty times as fast.
  await clock.delay(15_000)
  await using second = await start(first.port)
  await waitForCalls(second)
})

test('every call brings a credential of its own, so that no gateway lends a real one for it', async () => {
  await using upstream = await startSimulatedUpstream()
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    env: { UPSTREAM_API_KEY: 'sk-real' },
  })
  await using traffic = startTraffic(gateway)
  await upstream.waitFor('some calls', () => upstream.requests.length > 10)
  await traffic.close()
  for (const request of upstream.requests) {
    assert.match(request.header('authorization') ?? '', /^Bearer simulated-key-of-demo-/)
  }
})

test('closing leaves nothing behind: the process ends by itself', async () => {
  const from = (path: string): string => `from ${JSON.stringify(new URL(path, import.meta.url))}`
  const script = `
    import { startDemoTraffic } ${from('../../src/demo/demo-traffic.ts')}
    import { startDemoUpstream } ${from('../../src/demo/demo-upstream.ts')}
    import { fastClock } ${from('../support/fast-clock.ts')}
    const clock = fastClock(5)
    const upstream = await startDemoUpstream({ clock })
    let calls = 0
    const { fetch } = globalThis
    globalThis.fetch = (...args) => fetch(...args).finally(() => calls++)
    const traffic = startDemoTraffic({ gatewayBaseUrl: upstream.baseUrl, clock })
    while (calls < 5) await clock.delay(100)
    await traffic.close()
    await upstream.close()
    console.log('closed')
  `
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printedAt = 0
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
    printedAt = performance.now()
  })
  const limit = setTimeout(() => child.kill('SIGKILL'), 60_000)
  const [code] = await once(child, 'close')
  clearTimeout(limit)
  assert.equal(code, 0)
  assert.equal(printed, 'closed\n')
  assertWithin(1000, performance.now() - printedAt, 'ending after the last word')
})

async function waitForCalls(gateway: GatewayProcess): Promise<void> {
  await eventually('traffic', async () => {
    const admitted = asRecord((await gateway.health())['rate_limiter'])['total_admitted']
    return Number(admitted) >= 5
  })
}
