import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { CallPayloads } from '../../src/api/call-payloads.ts'
import type { PayloadEvent } from '../../src/api/dashboard-event.ts'
import type { OutgoingRecord, RawLogStatus, RecentPayloads } from '../../src/api/raw-log.ts'
import { firstIdAt, formatCallId } from '../../src/call/call-id.ts'
import type { QuerySource } from '../../src/dashboard/routes/dashboard-deps.ts'
import { fullPath } from '../../src/payloads/file/payload-segments.ts'
import { payloadAnswer } from '../../src/query/payload-answer.ts'
import type { QueryOutcome } from '../../src/query/query-messages.ts'
import { QueryService } from '../../src/query/query-service.ts'
import { timesCount } from '../support/assert-within.ts'
import { startCommandProcess } from '../support/command-process.ts'
import { type DashboardProcess, startDashboardProcess } from '../support/dashboard-process.ts'
import { exchange } from '../support/exchange.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { asRecord, parseRecord } from '../support/json-record.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { errorOf, startDashboard } from './dashboard-under-test.ts'
import { type EventReader, openEvents } from './event-reader.ts'
import { rawLogStatus } from './scripted-gateway.ts'

const morning = Date.UTC(2026, 10, 21, 6)

/** The id of the call that began so many seconds after the morning did. */
function idAt(seconds: number): number {
  return firstIdAt(morning + seconds * 1000)
}

/** A line of the log; of numbers and keys that `JSON.parse` would not give back. */
function line(seconds: number, direction: 'incoming' | 'outgoing'): string {
  const [id, seq] = [formatCallId(idAt(seconds)), idAt(seconds) + (direction === 'incoming' ? 1 : 2)]
  const timestamp = new Date(morning + seconds * 1000).toISOString()
  const about = { id, seq, timestamp, direction, method: 'POST', path: '/v1/x', status: null, headers: {} }
  const size = { body_bytes: 20, truncated: false, model: null, stream: false }
  const end = direction === 'incoming' ? {} : { outcome: 'ok', failure_code: null, duration_ms: 1 }
  // A body stands there as it came, also where JSON has no such value.
  const body = '"body":{"a":1.50,"a":1e400},'
  return JSON.stringify({ ...about, ...size, ...end }).replace('"body_bytes"', `${body}"body_bytes"`)
}

/** A log with calls at these seconds, each segment's; the last is the active one. */
function writeLog(directory: string, ...segments: readonly (readonly number[])[]): string {
  const folder = join(directory, 'logger')
  mkdirSync(folder)
  const filePath = join(folder, 'payloads.jsonl')
  for (const [at, seconds] of segments.entries()) {
    const text = seconds
      .map((second) => `${line(second, 'incoming')}\n${line(second, 'outgoing')}\n`)
      .join('')
    const path =
      at === segments.length - 1
        ? filePath
        : fullPath(filePath, idAt(seconds[0] ?? 0), 2 * seconds.length, Buffer.byteLength(text))
    writeFileSync(path, text)
    const last = new Date(morning + (seconds.at(-1) ?? 0) * 1000)
    utimesSync(path, last, last)
  }
  return filePath
}

function answer(filePath: string, seconds: number, logging: boolean | null): string {
  return payloadAnswer({ kind: 'payloads', id: idAt(seconds), filePath, logging }).toString()
}

test('both records of a call come as they stand in the file, whichever segment they are in', async () => {
  await using directory = await makeTempDir()
  const filePath = writeLog(directory.path, [10, 20], [30, 40])
  for (const seconds of [10, 20, 30, 40]) {
    const expected = `{"request":${line(seconds, 'incoming')},"answer":${line(seconds, 'outgoing')},"logging":null,"reason":null}`
    assert.equal(answer(filePath, seconds, null), expected)
  }
})

test('one record alone is answered as such', async () => {
  await using directory = await makeTempDir()
  const filePath = writeLog(directory.path, [10])
  appendFileSync(filePath, `${line(20, 'incoming')}\n${line(30, 'incoming').slice(0, 90)}`)
  const { request, answer: outgoing, reason } = JSON.parse(answer(filePath, 20, true)) as CallPayloads
  assert.deepEqual([request?.seq, outgoing, reason], [idAt(20) + 1, null, null])
  assert.deepEqual(reasonOf(answer(filePath, 30, true)), 'not_captured')
})

test('why there is nothing is told as far as the files tell it', async () => {
  await using directory = await makeTempDir()
  const none = join(directory.path, 'nowhere', 'payloads.jsonl')
  assert.equal(reasonOf(answer(none, 10, true)), 'logging_off')
  const filePath = writeLog(directory.path, [10, 20], [30, 40])
  assert.equal(reasonOf(answer(filePath, 5, true)), 'rotated_away')
  assert.equal(reasonOf(answer(filePath, 15, false)), 'not_captured')
  assert.equal(reasonOf(answer(filePath, 50, false)), 'logging_off')
  assert.equal(reasonOf(answer(filePath, 50, true)), 'not_captured')

  await using other = await makeTempDir()
  assert.equal(reasonOf(answer(writeLog(other.path, [10]), 5, true)), 'logging_off')
  await using cleared = await makeTempDir()
  assert.equal(reasonOf(answer(writeLog(cleared.path, []), 5, null)), 'logging_off')
})

test('the dashboard answers them, and no browser keeps them', async () => {
  await using directory = await makeTempDir()
  const filePath = writeLog(directory.path, [10, 20])
  const service = new QueryService(join(directory.path, 'none.db'), () => 0)
  const queries: QuerySource = {
    ask: async (question) => {
      const asked = 'filePath' in question ? { ...question, filePath } : question
      const reply = await service.answer({ question: asked, nowMs: morning, budgetMs: 1000 })
      return reply as QueryOutcome
    },
  }
  await using dashboard = await startDashboard({ queries })
  const found = await dashboard.ask('GET', `/api/calls/${formatCallId(idAt(20))}/payloads`)
  assert.equal(found.status, 200)
  assert.equal(found.header('cache-control'), 'no-store')
  assert.equal(found.header('content-type'), 'application/json; charset=utf-8')
  assert.equal(
    found.body.toString(),
    `{"request":${line(20, 'incoming')},"answer":${line(20, 'outgoing')},"logging":true,"reason":null}`,
  )
  const missing = await dashboard.ask('GET', `/api/calls/${formatCallId(idAt(15))}/payloads`)
  assert.deepEqual([missing.status, reasonOf(missing.body.toString())], [200, 'not_captured'])
  const wrong = await dashboard.ask('GET', '/api/calls/x/payloads')
  assert.deepEqual([wrong.status, errorOf(wrong).code], [400, 'invalid_parameter'])

  dashboard.rawLog.recentBody = null
  const recent = await dashboard.ask('GET', '/api/raw-log/recent?limit=3')
  assert.deepEqual([recent.status, recent.header('cache-control')], [200, 'no-store'])
  const { entries, total_count } = JSON.parse(recent.body.toString()) as RecentPayloads
  assert.deepEqual(fieldsOf(entries, 'seq'), [idAt(20) + 2, idAt(20) + 1, idAt(10) + 2])
  assert.equal(total_count, 4)
  assert.equal(asRecord(parseRecord(recent.body.toString()))['truncated'], false)
  assert.deepEqual(dashboard.rawLog.asked, ['recent 3'])
  assert.equal(rawLogStatus.enabled, true)
})

function reasonOf(body: string): unknown {
  return parseRecord(body)['reason']
}

interface Call {
  readonly id: string
  readonly text: string
}

/** A streamed chat call through the dashboard's gateway, with a key, on a connection of its own. */
async function call(dashboard: DashboardProcess, content: string): Promise<Call> {
  const { port } = await dashboard.status()
  const response = await exchange(port ?? 0, 'POST', '/v1/chat/completions', {
    headers: [
      ['Content-Type', 'application/json'],
      ['Authorization', 'Bearer sk-planted-0123456789abcdef0123'],
      ['Connection', 'close'],
    ],
    body: JSON.stringify({ model: 'sim-small', stream: true, messages: [{ role: 'user', content }] }),
  })
  return { id: response.header('x-tokenweir-call-id') ?? '', text: response.body.toString() }
}

async function json<T>(dashboard: DashboardProcess, path: string): Promise<T> {
  return (await (await dashboard.ask('GET', path)).json()) as T
}

const isAnswerOf =
  (id: string) =>
  ({ data }: { readonly data: unknown }): boolean => {
    const event = data as PayloadEvent
    return !('type' in event) && event.id === id && event.direction === 'outgoing'
  }

async function waitForAnswer(reader: EventReader, id: string): Promise<OutgoingRecord> {
  const event = await reader.until(() => reader.events.find(isAnswerOf(id)), `the answer of ${id}`)
  return event.data as OutgoingRecord
}

test('payloads are watched, kept and read again: over a restart, and when no gateway runs', async () => {
  await using upstream = await startSimulatedUpstream()
  await using dashboard = await startDashboardProcess({ args: ['--upstream', upstream.baseUrl] })
  const { directory } = dashboard

  const before = await json<RawLogStatus>(dashboard, '/api/raw-log/status')
  assert.deepEqual([before.enabled, before.file_size_bytes], [false, 0])
  const refused = await dashboard.ask('POST', '/api/raw-log/toggle', { enabled: true })
  assert.equal(refused.status, 409)
  assert.match(await refused.text(), /"code":"not_running","message":"No gateway is running/)
  assert.equal((await dashboard.ask('GET', '/api/raw-log/stream')).status, 409)

  using reader = await openEvents(dashboard.port, 'payloads')
  assert.deepEqual((await reader.waitFor(1))[0]?.data, { type: 'disconnected' })
  assert.equal((await dashboard.ask('POST', '/api/proxy/start')).status, 200)
  assert.deepEqual((await reader.waitFor(2))[1]?.data, { type: 'connected', enabled: false })

  // Live, and not kept.
  const live = await call(dashboard, 'first')
  const watched = await waitForAnswer(reader, live.id)
  assert.equal(watched.text, 'The weir holds the water back.')
  const kinds = reader.events.slice(2).map(({ data }) => {
    const event = data as PayloadEvent
    return 'type' in event ? event.type : event.direction
  })
  assert.deepEqual(kinds, ['started', 'incoming', 'outgoing'])
  const notKept = await json<CallPayloads>(dashboard, `/api/calls/${live.id}/payloads`)
  assert.deepEqual(notKept, { request: null, answer: null, logging: false, reason: 'logging_off' })

  const on = await dashboard.ask('POST', '/api/raw-log/toggle', { enabled: true, for_s: 600 })
  assert.equal(parseRecord(await on.text())['enabled'], true)
  await using tail = startCommandProcess({
    args: ['tail', '--json', '--db', 'data/llm_telemetry.db'],
    directory,
  })
  await tail.waitForOutput(/following the gateway on data\/gateway\.sock; payloads are captured/)
  const kept = await call(dashboard, 'second')
  await waitForAnswer(reader, kept.id)
  await tail.waitForOutput(new RegExp(`"id":"${kept.id}".*"direction":"outgoing"`))

  // The one that takes over goes on logging, and its feed is found again.
  assert.equal((await dashboard.ask('POST', '/api/proxy/restart')).status, 200)
  const connections = (): number =>
    reader.events.filter(({ data }) => (data as { type?: unknown }).type === 'connected').length
  await reader.until(() => (connections() > 1 ? true : undefined), 'the new feed')
  const later = await call(dashboard, 'third')
  await waitForAnswer(reader, later.id)
  await tail.waitForOutput(new RegExp(`"id":"${later.id}".*"direction":"outgoing"`))
  assert.deepEqual(await tail.stop('SIGTERM'), { code: 0, signal: null })
  assert.match(tail.stdout, /"content":"second"[^]*"The weir holds the water back\."[^]*"content":"third"/)
  // It says so after 1.5 s without a gateway.
  if (timesCount) assert.doesNotMatch(tail.stderr, /gone away/)

  const status = await json<RawLogStatus>(dashboard, '/api/raw-log/status')
  assert.deepEqual([status.enabled, status.file_path], [true, `${directory}/logger/payloads.jsonl`])
  assert.ok(status.enabled_until !== null, 'it ends when it would have ended')
  await assertKept(dashboard, kept, true)
  await assertKept(dashboard, later, true)
  const running = await json<RecentPayloads>(dashboard, '/api/raw-log/recent?limit=3')
  assert.deepEqual(fieldsOf(running.entries, 'id', 'direction'), [
    [later.id, 'outgoing'],
    [later.id, 'incoming'],
    [kept.id, 'outgoing'],
  ])

  // Without a gateway the files tell the same.
  assert.equal((await dashboard.ask('POST', '/api/proxy/stop')).status, 200)
  await reader.until(
    () => ((reader.events.at(-1)!.data as { type?: unknown }).type === 'disconnected' ? true : undefined),
    'the end of the feed',
  )
  await assertKept(dashboard, kept, null)
  assert.deepEqual(await json<RecentPayloads>(dashboard, '/api/raw-log/recent?limit=3'), running)
  appendFileSync(`${directory}/logger/payloads.jsonl`, '{"id":"torn')
  const off = await json<RawLogStatus>(dashboard, '/api/raw-log/status')
  assert.equal(off.enabled, false)
  assert.ok(off.file_size_bytes > 1000)
  assert.deepEqual(await json<RecentPayloads>(dashboard, '/api/raw-log/recent?limit=3'), running)
  assert.equal((await dashboard.ask('POST', '/api/raw-log/clear')).status, 200)
  const cleared = await json<RecentPayloads>(dashboard, '/api/raw-log/recent')
  assert.deepEqual(cleared, { entries: [], total_count: 0, truncated: false })
  const gone = await json<CallPayloads>(dashboard, `/api/calls/${kept.id}/payloads`)
  assert.deepEqual(gone, { request: null, answer: null, logging: null, reason: 'logging_off' })

  const all = JSON.stringify(reader.events) + tail.stdout + JSON.stringify(running)
  assert.ok(!all.includes('planted-0123456789'), 'no key is in any of it')
})

async function assertKept(
  dashboard: DashboardProcess,
  { id, text }: Call,
  logging: boolean | null,
): Promise<void> {
  const found = await json<CallPayloads>(dashboard, `/api/calls/${id}/payloads`)
  assert.deepEqual(
    [found.request?.id, found.answer?.id, found.logging, found.reason],
    [id, id, logging, null],
  )
  assert.equal(found.answer?.body, text)
  assert.equal(found.answer?.text, 'The weir holds the water back.')
}
