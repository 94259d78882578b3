import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { Note, NotesReport } from '../../src/api/notes.ts'
import type { Overview } from '../../src/api/overview.ts'
import type { SlotWaitsReport } from '../../src/api/slot-waits.ts'
import { idsPerMs } from '../../src/call/call-id.ts'
import type { CallRecord } from '../../src/call/call-record.ts'
import { makeApp } from '../../src/dashboard/http/app.ts'
import { makeGuard } from '../../src/dashboard/http/guard.ts'
import { readPage } from '../../src/dashboard/http/page-assets.ts'
import { pageRoutes } from '../../src/dashboard/routes/page-routes.ts'
import { ThisMachine } from '../../src/lib/this-machine.ts'
import { GatewayRefusedError, RawLogError } from '../../src/supervisor/raw-log-relay.ts'
import { chatCall, idAt, sampleStartMs } from '../store/sample-call.ts'
import { eventually } from '../support/eventually.ts'
import { type DashboardProcess, startDashboardProcess } from '../support/dashboard-process.ts'
import { requestBytes } from '../support/exchange.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { openRawClient } from '../support/raw-client.ts'
import type { HeaderLines } from '../support/response-bytes.ts'
import { errorOf, startDashboard } from './dashboard-under-test.ts'
import { openEvents } from './event-reader.ts'
import { startQueried } from './query-database.ts'
import { rawLogStatus } from './scripted-gateway.ts'

const noon = '2026-11-21T12:00:00.000Z'
const dayOfNote = '/api/overview?from=2026-11-21&to=2026-11-22'

async function told<T>(answer: Promise<Response>): Promise<T> {
  return (await (await answer).json()) as T
}

const codeOf = async (answer: Promise<Response>): Promise<unknown> =>
  (await told<{ error: { code: unknown } }>(answer)).error.code

const post = (dashboard: DashboardProcess, note: object): Promise<Response> =>
  fetch(`${dashboard.origin}/api/notes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(note),
  })

test('a note is kept, masked, told with the day it is of, and deleted', async () => {
  await using dashboard = await startDashboardProcess()
  const key = `sk-proj-${'Ab3dEf6hIj9k'.repeat(4)}`
  const added = await post(dashboard, { text: `deployed v2 with ${key}`, at: '2026-11-21T13:00:00+01:00' })
  assert.equal(added.status, 201)
  const note = (await added.json()) as Note
  assert.equal(note.at, noon)
  assert.match(note.text, /^deployed v2 with (?!sk-proj-Ab3d)/)
  const file = `${dashboard.directory}/data/notes.json`
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.ok(!readFileSync(file, 'utf8').includes(key))
  const before = Date.now()
  const now = (await (await post(dashboard, { text: 'just now' })).json()) as Note
  assert.ok(Date.parse(now.at) >= before - 1 && Date.parse(now.at) <= Date.now())

  const all = await told<NotesReport>(dashboard.ask('GET', '/api/notes'))
  assert.deepEqual(all.notes, [now, note])
  const ofDay = await told<NotesReport>(dashboard.ask('GET', '/api/notes?from=2026-11-21&to=2026-11-22'))
  assert.deepEqual(ofDay.notes, [note])
  const { events } = await told<Overview>(dashboard.ask('GET', dayOfNote))
  assert.deepEqual(events, [{ at: noon, instance: null, kind: 'note', detail: note.text }])

  assert.equal((await dashboard.ask('DELETE', `/api/notes/${note.id}`)).status, 200)
  assert.deepEqual((await told<Overview>(dashboard.ask('GET', dayOfNote))).events, [])
  assert.equal(await codeOf(dashboard.ask('DELETE', `/api/notes/${note.id}`)), 'note_not_found')
})

test('what is no note is refused, from elsewhere all is; a broken file takes nothing else with it', async () => {
  await using dashboard = await startDashboardProcess()
  const bodies: readonly object[] = [
    {},
    { text: '' },
    { text: 'x'.repeat(201) },
    { text: 'a\u0000b' },
    { text: 'x', at: 'yesterday' },
    { text: 'x', at: '2026-13-41T00:00:00Z' },
    { text: 'x', more: 1 },
  ]
  for (const body of bodies) assert.equal((await post(dashboard, body)).status, 400, JSON.stringify(body))
  const elsewhere = { 'content-type': 'application/json', origin: 'http://evil.example' }
  for (const [method, path] of [
    ['POST', '/api/notes'],
    ['DELETE', '/api/notes/0123'],
  ] as const) {
    const init = { method, headers: elsewhere, body: '{"text":"x"}' }
    assert.equal((await fetch(dashboard.origin + path, init)).status, 403)
  }
  assert.equal((await post(dashboard, { text: 'kept' })).status, 201)
  writeFileSync(`${dashboard.directory}/data/notes.json`, '{"a": {"at": 5}}')
  const { notes, problem } = await told<NotesReport>(dashboard.ask('GET', '/api/notes'))
  assert.deepEqual([notes.length, notes[0]?.text], [1, 'kept'])
  assert.match(String(problem), /notes\.json.* a\.at must be/)
  assert.equal(await codeOf(post(dashboard, { text: 'more' })), 'broken_notes_file')
  assert.equal((await dashboard.ask('GET', dayOfNote)).status, 200)
})

test('a text that masking makes longer is cut; a thousand notes are the most', async () => {
  await using dashboard = await startDashboardProcess()
  const long = await post(dashboard, { text: 'http://u:p@h '.repeat(15), at: noon })
  assert.equal(long.status, 201)
  const { text, id } = (await long.json()) as Note
  assert.match(text, /^(?:http:\/\/\[secret\]@h )+/)
  assert.equal(text.length, 200)
  const { notes, problem } = await told<NotesReport>(dashboard.ask('GET', '/api/notes'))
  assert.deepEqual([notes.map((note) => note.id), problem], [[id], null])
  const onLines = await told<Note>(post(dashboard, { text: 'http://u:p@h\u2028'.repeat(15), at: noon }))
  assert.equal(onLines.text.length, 200)
  assert.equal((await told<NotesReport>(fetch(`${dashboard.origin}/api/notes`))).problem, null)

  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`n${n}`, { at: noon, text: 'x' }]))
  writeFileSync(`${dashboard.directory}/data/notes.json`, JSON.stringify(many))
  assert.equal(await codeOf(post(dashboard, { text: 'one more' })), 'too_many_notes')
  assert.equal((await dashboard.ask('DELETE', '/api/notes/n0')).status, 200)
  assert.equal((await post(dashboard, { text: 'one more' })).status, 201)
})

const neverServed = { attempts: 0, status: 503, outcome: 'refused', durationMs: 0.5, queueMs: 0.5 } as const

/** Eight calls that came at once and held two slots for a second each; then one alone. */
const served: readonly CallRecord[] = [0, 0, 1000, 1000, 2000, 2000, 3000, 3000].map((queueMs, index) =>
  Object.assign(chatCall(sampleStartMs * idsPerMs + index), {
    receiveMs: 0,
    queueMs,
    durationMs: queueMs + 1000,
  }),
)
const alone: CallRecord = {
  ...chatCall(idAt(60_000)),
  receiveMs: 5,
  queueMs: 0,
  durationMs: 1005,
}
const calls: readonly CallRecord[] = [
  ...served,
  alone,
  { ...alone, ...neverServed, id: alone.id + 1, failureCode: 'queue_full' },
  // These had no part in it.
  { ...alone, ...neverServed, id: alone.id + 2, failureCode: 'draining' },
  { ...alone, id: alone.id + 3, method: 'GET' },
  { ...alone, id: alone.id + 4, upstreamName: 'local', durationMs: 9005 },
]
const dayBefore = new Date(sampleStartMs - 3_600_000).toISOString()

test('how calls waited, and would have with more slots', async () => {
  await using queried = await startQueried({
    calls,
    events: [{ atMs: sampleStartMs - 1000, kind: 'start', detail: '{"max_concurrent":2}' }],
  })
  const ask = (query: string): Promise<SlotWaitsReport> =>
    queried.getJson(`/api/slots?from=${dayBefore}&${query}`)
  const waits = (waited: number, p95: number, max = p95) => ({
    waited,
    wait_p95_ms: p95,
    wait_max_ms: max,
  })
  const { from, to, ...told } = await ask('slot_cooldown_ms=0')
  assert.equal(Date.parse(from), Date.parse(dayBefore))
  assert.ok(Date.parse(to) > Date.parse(from))
  assert.deepEqual(told, {
    counted_from: null,
    max_concurrent: 2,
    calls: 9,
    turned_away: 1,
    recorded: waits(6, 3000),
    estimates: [
      { max_concurrent: 2, ...waits(6, 3000) },
      { max_concurrent: 3, ...waits(5, 2000) },
      { max_concurrent: 4, ...waits(4, 1000) },
      { max_concurrent: 6, ...waits(2, 1000) },
      { max_concurrent: 8, ...waits(0, 0) },
    ],
    short_waits_at: 8,
    no_waits_at: 8,
  })

  const cooled = await ask('max_concurrent=1&slot_cooldown_ms=50')
  assert.deepEqual(fieldsOf(cooled.estimates, 'max_concurrent'), [1, 2, 3, 5, 8])
  assert.equal(cooled.estimates[0]?.wait_max_ms, 7350)

  const local = await ask('upstream_name=local')
  assert.deepEqual([local.calls, local.turned_away, local.no_waits_at], [1, 0, 1])
  const nobody = await ask('upstream_name=nobody')
  assert.deepEqual([nobody.calls, nobody.estimates, nobody.no_waits_at], [0, [], null])
  assert.equal(nobody.recorded.wait_p95_ms, null)

  const badLimit = await queried.get('/api/slots?max_concurrent=0')
  assert.match(errorOf(badLimit).message, /max_concurrent must be a whole number from 1 to 100,000/)
})

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
      fieldsOf(
        events.filter(({ name }) => name === 'payloads'),
        'data',
      ),
      [
        { type: 'connected', enabled: false },
        { id: '0', seq: 3, body: '\u2028</script>\r\n' },
      ],
    )
  }
  using next = await openEvents(dashboard.port, 'beat')
  await next.waitFor(1)
  await eventually('the one that left is forgotten', () => dashboard.rawLog.listeners === 0)
  assert.equal(other.events.length, 1)
})

test('where the page was not built, it says how to', async () => {
  const assets = readPage(new URL('no-such-folder/', import.meta.url))
  const rules = { demandsToken: false, allowedHosts: [], openPaths: new Set<string>() }
  const guard = makeGuard(rules, new ThisMachine(true), null)
  const app = makeApp(pageRoutes(assets, guard, null), {
    isClosing: () => false,
    onFault: (error) => assert.fail(String(error)),
  })
  const server = createServer((req, res) => void app(req, res)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  for (const path of ['/', '/calls', '/assets/main.js']) {
    const { port } = server.address() as AddressInfo
    const answer = await fetch(`http://127.0.0.1:${port}${path}`)
    assert.equal(answer.status, 503, path)
    assert.match(await answer.text(), /"page_not_built".*npm run build:page/, path)
  }
  server.closeAllConnections()
  server.close()
})

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

test('hundreds of idle connections keep no page out: silent, in the middle of a request, or answered', async () => {
  await using dashboard = await startDashboard()
  const parts = { host: 'localhost', headers: [['Content-Length', '9']] } as const
  const begun = requestBytes('POST', '/api/proxy/start', parts)
  const whole = requestBytes('GET', '/api/proxy/status', { host: 'localhost' })
  for (const bytes of [null, begun.subarray(0, 8), begun, whole]) {
    await using clients = new AsyncDisposableStack()
    const idle = async (): Promise<void> => {
      const client = clients.use(await openRawClient(dashboard.port))
      if (bytes !== null) await client.send(bytes)
      if (bytes === whole) await client.response()
    }
    // One after the other, so that each is answered before so many younger ones are open.
    for (let count = 0; count < 300; count++) await idle()
    assert.equal((await dashboard.ask('GET', '/')).status, 200)
  }
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
  await assert.rejects(startDashboard({ port: dashboard.port }), { code: 'EADDRINUSE' })
})
