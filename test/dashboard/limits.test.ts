import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestBytes } from '../support/exchange.ts'
import { openRawClient } from '../support/raw-client.ts'
import { makeDashboardServer } from '../../src/dashboard/dashboard-server.ts'
import { NotesFile } from '../../src/supervisor/notes-file.ts'
import { ThisMachine } from '../../src/lib/this-machine.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { ScriptedGateway, ScriptedLog, ScriptedRawLog } from './scripted-gateway.ts'
import { errorOf, startDashboard } from './dashboard-under-test.ts'

const json = [['Content-Type', 'application/json']] as const
const bodyOf = (bytes: number): string => `{"upstream":"${'x'.repeat(bytes - 15)}"}`

test('a body of 64 KiB passes, and a larger one is refused', async () => {
  await using dashboard = await startDashboard()
  const largest = await dashboard.ask('POST', '/api/proxy/start', { headers: json, body: bodyOf(64 * 1024) })
  assert.equal(largest.status, 200)
  const larger = await dashboard.ask('POST', '/api/proxy/start', {
    headers: json,
    body: bodyOf(64 * 1024 + 1),
  })
  assert.deepEqual([larger.status, errorOf(larger).code], [413, 'body_too_large'])
  assert.equal(dashboard.gateway.count('start'), 1)
})

test('a body that does not tell its size is counted', async () => {
  await using dashboard = await startDashboard()
  await using client = await openRawClient(dashboard.port)
  const headers = [...json, ['Transfer-Encoding', 'chunked'] as const]
  await client.send(requestBytes('POST', '/api/proxy/start', { headers, host: 'localhost' }))
  const chunk = `1000\r\n${'x'.repeat(4096)}\r\n`
  await client.send(chunk.repeat(17))
  const answer = await client.response()
  assert.deepEqual([answer.status, errorOf(answer).code], [413, 'body_too_large'])
  await client.waitForServerEnd()
})

test('a client that leaves in the middle of its body is no fault, and others are answered', async () => {
  await using dashboard = await startDashboard()
  {
    await using client = await openRawClient(dashboard.port)
    const headers = [...json, ['Content-Length', '1000'] as const]
    await client.send(requestBytes('POST', '/api/proxy/start', { headers, host: 'localhost' }))
    await client.send('{"port":')
    client.leave()
  }
  assert.equal((await dashboard.ask('GET', '/api/proxy/status')).status, 200)
  assert.deepEqual([dashboard.faults, dashboard.gateway.count('start')], [[], 0])
})

test('the body of a request that is not let in is not read', async () => {
  await using dashboard = await startDashboard()
  await using client = await openRawClient(dashboard.port)
  const headers = [
    ...json,
    ['Content-Length', '1000000'] as const,
    ['Origin', 'http://evil.example'] as const,
  ]
  await client.send(requestBytes('POST', '/api/proxy/start', { headers, host: 'localhost' }))
  const answer = await client.response()
  assert.deepEqual([answer.status, answer.header('connection')], [403, 'close'])
  await client.waitForServerEnd()
})

test('a head over 16 KiB is refused', async () => {
  await using dashboard = await startDashboard()
  for (const headers of [
    [['X-Long', 'x'.repeat(17_000)]] as const,
    Array.from({ length: 900 }, (_, i) => [`x-${i}`, 'abcdefghijklmno'] as const),
  ]) {
    const answer = await dashboard.ask('GET', '/api/proxy/status', { headers })
    assert.deepEqual([answer.status, errorOf(answer).code], [431, 'headers_too_large'])
  }
  assert.deepEqual(dashboard.gateway.asked, [])
})

test('heads that never end are cut off, and others are answered meanwhile', async () => {
  await using dashboard = await startDashboard()
  await using slow = await openRawClient(dashboard.port)
  await using silent = await openRawClient(dashboard.port)
  await slow.send('GET /api/proxy/status HTTP/1.1\r\nHost: localhost\r\n')
  assert.equal((await dashboard.ask('GET', '/api/proxy/status')).status, 200)
  const answer = await slow.response('GET', 60_000)
  assert.deepEqual([answer.status, errorOf(answer).code], [408, 'request_timeout'])
  await slow.waitForServerEnd()
  await silent.waitForServerEnd(60_000)
})

test('a second request in the middle of a stream breaks it, and adds nothing to it', async () => {
  await using dashboard = await startDashboard()
  await using client = await openRawClient(dashboard.port)
  await client.send(requestBytes('GET', '/api/events?topics=log', { host: 'localhost' }))
  await client.waitForBytes('retry: 2000')
  await client.send('garbage\r\n\r\n')
  await client.waitForServerEnd()
  assert.equal(client.received.toString().split('HTTP/1.1').length, 2)
})

test('a port that is taken is told of by the error of the system', async () => {
  await using dashboard = await startDashboard()
  const second = makeDashboardServer({
    process: new ScriptedGateway(),
    log: new ScriptedLog(),
    rawLog: new ScriptedRawLog(),
    queries: { ask: () => Promise.reject(new Error('not asked')) },
    jobs: {
      last: { compress: null, reprice: null },
      sync: null,
      file: () => assert.fail('not asked'),
      compress: () => assert.fail('not asked'),
      reprice: () => assert.fail('not asked'),
      export: () => assert.fail('not asked'),
      startSync: () => assert.fail('not asked'),
      watch: () => () => undefined,
    },
    alerts: () => assert.fail('not asked'),
    clients: { report: () => assert.fail('not asked'), change: () => assert.fail('not asked') },
    upstreams: {
      report: () => assert.fail('not asked'),
      change: () => assert.fail('not asked'),
      remove: () => assert.fail('not asked'),
    },
    models: () => assert.fail('not asked'),
    testUpstream: () => assert.fail('not asked'),
    notes: new NotesFile('/nowhere'),
    gateways: null,
    priceFile: '/nowhere/model_costs.json',
    adminToken: null,
    thisMachine: new ThisMachine(true),
    demandsToken: false,
    allowedHosts: [],
    clock: new FakeClock(),
    onFault: () => undefined,
  })
  await assert.rejects(second.listen(dashboard.port, '127.0.0.1'), { code: 'EADDRINUSE' })
  await second.close()
})
