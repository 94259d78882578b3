import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { exchange } from '../support/exchange.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { untilPastIsRead } from '../support/gateway-state.ts'
import { type JsonRecord, parseRecord } from '../support/json-record.ts'
import type { RawResponse } from '../support/raw-response.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'

const upstream = await startSimulatedUpstream()
const gateway = await startGatewayProcess({
  upstream: `${upstream.baseUrl}/`,
  args: ['--max-concurrent', '7', '--slot-cooldown-ms', '11', '--token-limit', '1000'],
})
after(async () => {
  await gateway[Symbol.asyncDispose]()
  await upstream.close()
})

function bodyOf(response: RawResponse): JsonRecord {
  return parseRecord(response.body.toString())
}

test('the report has the fields that were promised, and no others', async () => {
  await untilPastIsRead(gateway)
  const response = await exchange(gateway.port, 'GET', '/health')
  assert.equal(response.status, 200)
  assert.equal(response.header('content-type'), 'application/json')
  assert.equal(response.header('cache-control'), 'no-store')
  const { instance, version, uptime_s, ...report } = bodyOf(response)
  assert.deepEqual(report, {
    status: 'ok',
    upstream: `${upstream.baseUrl}/`,
    db: gateway.databaseFile,
    rate_limiter: {
      max_concurrent: 7,
      active: 0,
      queued: 0,
      slot_cooldown_ms: 11,
      total_admitted: 0,
      total_queued: 0,
      total_retries_429: 0,
      peak_active: 0,
      queue_order: 'fifo',
    },
    clients: [],
    provider_limits: [],
    minute_limits: [],
    token_budget: {
      daily_limit: 1000,
      total_used: 0,
      remaining: 1000,
      percentage_used: 0,
      estimated: 0,
      known: true,
    },
    pid: gateway.pid,
    wrong_base_url_calls: 0,
    raw_log: { enabled: false, file_size_bytes: 0 },
    telemetry: { written: 0, pending: 0, dropped: 0 },
    warnings: [],
  })
  assert.match(String(instance), /^[a-z0-9]{4,16}$/)
  assert.match(String(version), /^\d+\.\d+\.\d+/)
  assert.ok(Number.isInteger(uptime_s) && Number(uptime_s) >= 0)
})

test('calls with a wrong base URL are told the right one, and counted', async () => {
  const wrong = ['/chat/completions', '/models', '/v1beta/models/gemini:generateContent', '/api/chat']
  for (const target of wrong) {
    const response = await exchange(gateway.port, 'POST', target, { host: 'localhost:9090', body: '{}' })
    assert.deepEqual([response.status, response.header('x-tokenweir-error')], [404, 'not_found'])
    assert.match(response.body.toString(), /use http:\/\/localhost:9090\/v1 as the base URL/)
  }
  assert.equal((await exchange(gateway.port, 'GET', '/favicon.ico')).status, 404)
  assert.equal((await gateway.health())['wrong_base_url_calls'], wrong.length)
  assert.equal(upstream.requests.length, 0)
})

test('GET / is the same, HEAD has no body, other methods are refused', async () => {
  for (const target of ['/', '/health', '/?a=b', '/health?probe=1']) {
    const get = await exchange(gateway.port, 'GET', target)
    assert.deepEqual([get.status, bodyOf(get)['status']], [200, 'ok'], target)
    const head = await exchange(gateway.port, 'HEAD', target)
    assert.deepEqual([head.status, head.body.length], [200, 0])
    assert.ok(Number(head.header('content-length')) > 100)
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      const other = await exchange(gateway.port, method, target)
      assert.deepEqual([other.status, other.header('x-tokenweir-error')], [405, 'method_not_allowed'])
    }
  }
  assert.equal(upstream.connections.length, 0)
})

test('it answers under loopback names and address literals, and under no name that somebody could rebind', async () => {
  const trusted = [
    'localhost',
    'LOCALHOST:1',
    'weir.localhost:9090',
    '127.0.0.1',
    '127.9.8.7:80',
    '[::1]:9090',
  ]
  const literals = ['192.168.1.20:9090', '[fe80::1]', '0.0.0.0:9090']
  for (const host of [...trusted, ...literals]) {
    assert.equal((await exchange(gateway.port, 'GET', '/health', { host })).status, 200, host)
  }
  const names = [
    'evil.example',
    'evil.example:9090',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'a',
    'weir',
  ]
  for (const host of names) {
    for (const target of ['/', '/health']) {
      const response = await exchange(gateway.port, 'GET', target, { host })
      assert.deepEqual([response.status, response.header('x-tokenweir-error')], [403, 'forbidden'], host)
      assert.ok(!response.body.includes('rate_limiter'))
      assert.match(response.body.toString(), new RegExp(`; --allow-host ${host.replace(':9090', '')} allows`))
    }
  }
  for (const name of ['access-control-allow-origin', 'access-control-allow-methods']) {
    const headers = [['Origin', 'http://evil.example']] as const
    assert.equal((await exchange(gateway.port, 'GET', '/health', { headers })).header(name), undefined)
  }
  // A forwarded path is answered under any name: it is the upstream that the client speaks to.
  const model = await exchange(gateway.port, 'GET', '/v1/models', { host: 'weir.lan:9090' })
  assert.equal(model.status, 200)
})

test('--allow-host adds a name, in any case and with any port', async () => {
  const args = ['--allow-host', 'Weir.LAN', '--allow-host', 'other.lan,third.lan']
  await using open = await startGatewayProcess({ upstream: upstream.origin, args })
  for (const host of ['weir.lan', 'WEIR.lan:9090', 'other.lan', 'third.lan:1', 'localhost']) {
    assert.equal((await exchange(open.port, 'GET', '/health', { host })).status, 200, host)
  }
  for (const host of ['evil.example', 'sub.weir.lan']) {
    assert.equal((await exchange(open.port, 'GET', '/health', { host })).status, 403, host)
  }
})
