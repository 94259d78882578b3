import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GatewayRefusedError, RawLogError } from '../../src/supervisor/raw-log-relay.ts'
import { until } from '../store/until.ts'
import type { HeaderLines } from '../support/response-bytes.ts'
import { errorOf, startDashboard } from './dashboard-under-test.ts'
import { openEvents } from './event-reader.ts'
import { rawLogStatus } from './scripted-gateway.ts'

test('what is asked is passed on, and so is the answer', async () => {
  await using dashboard = await startDashboard()
  const status = await dashboard.ask('GET', '/api/raw-log/status')
  assert.deepEqual(JSON.parse(status.body.toString()), rawLogStatus)
  for (const order of [{ enabled: false }, { enabled: true, for_s: 0.5 }, { enabled: true, for_s: null }]) {
    const answer = await dashboard.askJson('POST', '/api/raw-log/toggle', order)
    const { enabled, enabled_until, file_path, file_size_bytes } = rawLogStatus
    const switched = { success: true, enabled, enabled_until, file_path, file_size_bytes }
    assert.deepEqual([answer.status, JSON.parse(answer.body.toString())], [200, switched])
    assert.equal(dashboard.rawLog.asked.at(-1), `toggle ${JSON.stringify(order)}`)
  }
  assert.equal((await dashboard.ask('POST', '/api/raw-log/clear')).body.toString(), '{"success":true}')
  const recent = await dashboard.ask('GET', '/api/raw-log/recent')
  assert.equal(recent.body.toString(), dashboard.rawLog.recentBody)
  for (const answer of [status, recent]) assert.equal(answer.header('cache-control'), 'no-store')
  await dashboard.ask('GET', '/api/raw-log/recent?limit=1000')
  assert.deepEqual(dashboard.rawLog.asked.slice(-3), ['clear', 'recent 50', 'recent 1000'])
})

test('the feed is passed on byte for byte', async () => {
  await using dashboard = await startDashboard()
  // What an `EventSource` sends when it comes back.
  for (const headers of [[], [['Last-Event-ID', '77']]] satisfies HeaderLines[]) {
    const answer = await dashboard.ask('GET', '/api/raw-log/stream', { headers })
    assert.equal(answer.body.toString(), 'id: 7\ndata: {}\n\n')
    assert.equal(answer.header('content-type'), 'text/event-stream; charset=utf-8')
  }
  const head = await dashboard.ask('HEAD', '/api/raw-log/stream')
  assert.equal(head.status, 200)
  assert.deepEqual(dashboard.rawLog.asked, ['stream', 'stream'], 'nothing is opened for the head alone')
})

test('what is wrong with the question is told by its name, and nothing is passed on', async () => {
  await using dashboard = await startDashboard()
  const bodies: readonly [body: unknown, param: string | null][] = [
    [{}, 'enabled'],
    [{ enabled: 'true' }, 'enabled'],
    [{ enabled: 1 }, 'enabled'],
    [{ enabled: true, for_s: 0 }, 'for_s'],
    [{ enabled: true, for_s: '60' }, 'for_s'],
    [{ enabled: true, for_s: 604_801 }, 'for_s'],
    [[], null],
  ]
  for (const [body, param] of bodies) {
    const answer = await dashboard.askJson('POST', '/api/raw-log/toggle', body)
    const { code, message, ...rest } = errorOf(answer)
    assert.deepEqual(
      [answer.status, code, rest],
      [400, 'invalid_body', { param }],
      `${JSON.stringify(body)}: ${message}`,
    )
    if (param !== null) assert.match(message, new RegExp(`^${param} `))
  }
  for (const query of ['?limit=0', '?limit=1001', '?limit=x', '?x=1']) {
    assert.equal((await dashboard.ask('GET', `/api/raw-log/recent${query}`)).status, 400, query)
  }
  assert.equal((await dashboard.ask('GET', '/api/raw-log/toggle')).status, 405)
  assert.deepEqual(dashboard.rawLog.asked, [])
})

test('why nothing can be answered is told in words, in the shape of all errors', async () => {
  await using dashboard = await startDashboard()
  const busy = { status: 503, headers: { 'Retry-After': '5' } }
  const refused = new GatewayRefusedError('too_many_readers', 'Full.', busy)
  const troubles: readonly [Error, number, string, string | undefined][] = [
    [new RawLogError('not_running', 'No gateway runs.'), 409, 'not_running', undefined],
    [new RawLogError('gateway_silent', 'It does not answer.'), 504, 'gateway_silent', undefined],
    [refused, 503, 'too_many_readers', '5'],
  ]
  for (const [trouble, status, code, retryAfter] of troubles) {
    for (const target of ['status', 'recent', 'stream']) {
      dashboard.rawLog.trouble = trouble
      const answer = await dashboard.ask('GET', `/api/raw-log/${target}`)
      assert.deepEqual(
        [answer.status, errorOf(answer)],
        [status, { code, message: trouble.message, param: null }],
      )
      assert.equal(answer.header('retry-after'), retryAfter)
      assert.match(answer.header('content-type') ?? '', /^application\/json/)
    }
  }
  assert.deepEqual(dashboard.faults, [])
})

test('the topic is fed only while somebody listens to it', async () => {
  await using dashboard = await startDashboard()
  using other = await openEvents(dashboard.port, 'log')
  await other.waitFor(1)
  assert.equal(dashboard.rawLog.listeners, 0)
  {
    using reader = await openEvents(dashboard.port, 'payloads,beat')
    assert.equal(dashboard.rawLog.listeners, 1)
    dashboard.rawLog.tell({ type: 'connected', enabled: false })
    dashboard.rawLog.tell({ id: '0', seq: 3, body: '\u2028</script>\r\n' }, '3')
    const events = await reader.waitFor(3)
    assert.deepEqual(
      events.filter(({ name }) => name === 'payloads').map(({ data }) => data),
      [
        { type: 'connected', enabled: false },
        { id: '0', seq: 3, body: '\u2028</script>\r\n' },
      ],
    )
  }
  using next = await openEvents(dashboard.port, 'beat')
  await next.waitFor(1)
  await until('the one that left is forgotten', () => dashboard.rawLog.listeners === 0)
  assert.equal(other.events.length, 1)
})
