import assert from 'node:assert/strict'
import { appendFileSync } from 'node:fs'
import { test } from 'node:test'
import { timesCount } from '../support/assert-within.ts'
import type { CallPayloads } from '../../src/api/call-payloads.ts'
import type { PayloadEvent } from '../../src/api/dashboard-event.ts'
import type { OutgoingRecord, RawLogStatus, RecentPayloads } from '../../src/api/raw-log.ts'
import { startCommandProcess } from '../support/command-process.ts'
import { type DashboardProcess, startDashboardProcess } from '../support/dashboard-process.ts'
import { exchange } from '../support/exchange.ts'
import { parseRecord } from '../support/json-record.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { type EventReader, openEvents } from './event-reader.ts'

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
  assert.match(await refused.text(), /"code":"not_running","message":"No gateway runs/)
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
  await assertKept(dashboard, kept, true)
  await assertKept(dashboard, later, true)
  const running = await json<RecentPayloads>(dashboard, '/api/raw-log/recent?limit=3')
  assert.deepEqual(
    running.entries.map(({ id, direction }) => [id, direction]),
    [
      [later.id, 'outgoing'],
      [later.id, 'incoming'],
      [kept.id, 'outgoing'],
    ],
  )

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
