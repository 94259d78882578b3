import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogLines } from '../../src/api/dashboard-event.ts'
import { systemClock } from '../../src/call/clock.ts'
import { eventually } from '../support/eventually.ts'
import { requestBytes } from '../support/exchange.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { openRawClient } from '../support/raw-client.ts'
import { type DashboardUnderTest, errorOf, startDashboard } from './dashboard-under-test.ts'
import { type SeenEvent, openEvents } from './event-reader.ts'
import { runningStatus } from './scripted-gateway.ts'
import { assertWithin } from '../support/assert-within.ts'

test('one stream tells of the gateway and of the log', async () => {
  await using dashboard = await startDashboard()
  dashboard.log.lines = ['a']
  using reader = await openEvents(dashboard.port, 'gateway,log')
  await reader.waitFor(2)
  assert.deepEqual(
    reader.events.toSorted((a, b) => a.name.localeCompare(b.name)),
    [
      { name: 'gateway', data: runningStatus },
      { name: 'log', data: { lines: ['a'], reset: true } },
    ],
  )
  assert.equal(reader.rest, 'retry: 2000\n\n')
  const { headers } = reader.response
  assert.equal(headers['content-type'], 'text/event-stream; charset=utf-8')
  assert.equal(headers['cache-control'], 'no-store')
  assert.equal(headers['x-accel-buffering'], 'no')

  const hostile = ['b', '</script>\u2028', 'event: gateway', '\r\n\r\ndata: {}']
  dashboard.log.append(...hostile)
  assert.deepEqual((await reader.waitFor(3))[2]!.data, { lines: hostile, reset: false })
  await dashboard.ask('POST', '/api/proxy/clear-logs')
  assert.deepEqual((await reader.waitFor(4))[3]!.data, { lines: [], reset: true })
})

test('only what was asked for is told', async () => {
  await using dashboard = await startDashboard()
  using reader = await openEvents(dashboard.port, 'log')
  await reader.waitFor(1)
  dashboard.gateway.current = { ...runningStatus, state: 'draining' }
  await dashboard.ask('POST', '/api/proxy/stop')
  dashboard.log.append('end')
  await reader.waitFor(2)
  assert.deepEqual(fieldsOf(reader.events, 'name'), ['log', 'log'])
  assert.equal(dashboard.gateway.count('status'), 0)
})

test('what was done to the gateway is seen at once', async () => {
  await using dashboard = await startDashboard()
  using reader = await openEvents(dashboard.port, 'gateway')
  await reader.waitFor(1)
  for (const [at, operation] of (['stop', 'start', 'restart'] as const).entries()) {
    dashboard.gateway.current = { ...runningStatus, message: operation }
    await dashboard.ask('POST', `/api/proxy/${operation}`)
    const events = await reader.waitFor(at + 2)
    assert.deepEqual(events.at(-1)!.data, dashboard.gateway.current)
  }
})

test('a change is seen within a second or so, without anything being asked', async () => {
  await using dashboard = await startDashboard({ clock: systemClock })
  using reader = await openEvents(dashboard.port, 'gateway')
  await reader.waitFor(1)
  dashboard.gateway.current = { ...runningStatus, state: 'unresponsive' }
  const events = await reader.waitFor(2)
  assert.deepEqual(events[1]!.data, dashboard.gateway.current)
})

test('an open stream is kept in use by comments', async () => {
  await using dashboard = await startDashboard()
  using reader = await openEvents(dashboard.port, 'log')
  await dashboard.clock.advance(15_000)
  await reader.until(() => (reader.rest.endsWith(':\n\n') ? true : undefined), 'a comment')
})

test('who asks for it is told that the stream is alive, and nobody else', async () => {
  await using dashboard = await startDashboard()
  using reader = await openEvents(dashboard.port, 'beat')
  using other = await openEvents(dashboard.port, 'log')
  await reader.waitFor(1)
  await other.waitFor(1)
  for (let count = 2; count <= 4; count += 1) {
    await dashboard.clock.advance(15_000)
    await reader.waitFor(count)
  }
  assert.deepEqual(reader.events[3], { name: 'beat', data: { every_ms: 15_000 } })
  assert.deepEqual(fieldsOf(other.events, 'name'), ['log'])
})

test('a reader that leaves is forgotten', async () => {
  await using dashboard = await startDashboard()
  {
    using reader = await openEvents(dashboard.port, 'gateway,log')
    await reader.waitFor(2)
    assert.equal(dashboard.log.watchers, 1)
  }
  await eventually('it is forgotten', () => dashboard.log.watchers === 0)
})

test('a stream that waits behind another on one connection is refused', async () => {
  await using dashboard = await startDashboard()
  await using client = await openRawClient(dashboard.port)
  const request = requestBytes('GET', '/api/events?topics=log', { host: 'localhost' })
  await client.send(Buffer.concat(Array.from({ length: 100 }, () => request)))
  await client.waitForBytes('"reset":true')
  assert.equal(dashboard.log.watchers, 1)
  client.leave()
  const readers = await Promise.all(Array.from({ length: 63 }, () => openEvents(dashboard.port, 'gateway')))
  for (const reader of readers) reader[Symbol.dispose]()
})

test('topics that are missing or unknown are refused with those there are', async () => {
  await using dashboard = await startDashboard()
  for (const query of [
    '',
    '?topics=',
    '?topics=x',
    '?topics=log,x',
    '?topics=log,',
    '?topics=Log',
    '?topics=log&topics=log',
    '?topic=log',
  ]) {
    const answer = await dashboard.ask('GET', `/api/events${query}`)
    assert.equal(answer.status, 400, query)
    assert.match(errorOf(answer).message, /gateway, log|known are topics/)
  }
  const head = await dashboard.ask('HEAD', '/api/events?topics=log')
  assert.deepEqual([head.status, head.header('content-type')], [200, 'text/event-stream; charset=utf-8'])
  assert.equal(dashboard.log.watchers, 0)
})

test('a reader that never reads costs little, slows nobody, and begins anew when it reads again', async () => {
  await using dashboard = await startDashboard()
  using slow = await openEvents(dashboard.port, 'log')
  await slow.waitFor(1)
  slow.stopReading()
  const count = await flood(dashboard)
  slow.resumeReading()
  await slow.until(() => (shownNumbers(slow.events).at(-1) === count - 1 ? true : undefined), 'the last line')
  assert.ok(slow.events.length < count, `${slow.events.length} events`)
  assert.ok(slow.events.slice(1).some(isReset))
  const numbers = shownNumbers(slow.events)
  assert.deepEqual(
    numbers,
    numbers.map((_, at) => numbers[0]! + at),
  )
})

test('a reader that has not read for a minute is let go', async () => {
  await using dashboard = await startDashboard()
  using reader = await openEvents(dashboard.port, 'log')
  await reader.waitFor(1)
  reader.stopReading()
  await flood(dashboard)
  await dashboard.clock.advance(60_000)
  await eventually('it is forgotten', () => dashboard.log.watchers === 0)
})

test('the 65th reader is refused, and let in when another has left', async () => {
  await using dashboard = await startDashboard()
  await using stack = new AsyncDisposableStack()
  const readers = await Promise.all(Array.from({ length: 64 }, () => openEvents(dashboard.port, 'gateway')))
  for (const reader of readers) stack.use(reader)
  const refused = await dashboard.ask('GET', '/api/events?topics=gateway')
  assert.deepEqual([refused.status, errorOf(refused).code], [503, 'too_many_readers'])
  assert.ok(Number(refused.header('retry-after')) > 0)
  for (const reader of readers) await reader.waitFor(1)
  assert.ok(dashboard.gateway.count('status') <= 2, 'one poll for all')
  readers[0]![Symbol.dispose]()
  for (const startedAt = performance.now(); ;) {
    assert.ok(performance.now() - startedAt < 60_000, 'the place is never free')
    await using next = await openRawClient(dashboard.port)
    await next.send(requestBytes('GET', '/api/events?topics=gateway', { host: 'localhost' }))
    const bytes = await next.waitForBytes('\r\n\r\n')
    if (bytes.includes(' 200 OK')) break
  }
})

test('closing ends the streams in order, whoever reads or not', async () => {
  const dashboard = await startDashboard()
  using reader = await openEvents(dashboard.port, 'gateway,log')
  using stuck = await openEvents(dashboard.port, 'log')
  await stuck.waitFor(1)
  stuck.stopReading()
  await flood(dashboard)
  await using idle = await openRawClient(dashboard.port)
  await idle.send(requestBytes('GET', '/api/proxy/status', { host: 'localhost' }))
  await idle.response()
  const gate = Promise.withResolvers<void>()
  dashboard.gateway.statusGate = gate.promise
  await using busy = await openRawClient(dashboard.port)
  await busy.send(requestBytes('GET', '/api/proxy/status', { host: 'localhost' }))
  await dashboard.gateway.condition.until(
    () => (dashboard.gateway.statusRunning > 0 ? true : undefined),
    'it',
  )

  const startedAt = performance.now()
  await dashboard.server.close()
  assertWithin(2000, performance.now() - startedAt, 'closing')
  assert.equal(await reader.waitForEnd(), true)
  await idle.waitForServerEnd()
  await busy.waitForServerEnd()
  gate.resolve()
})

/** Logs far more than the sockets' buffers hold, at the pace of a reader that reads; answers how many lines. */
async function flood(dashboard: DashboardUnderTest): Promise<number> {
  using quick = await openEvents(dashboard.port, 'log')
  const count = 4000
  for (let i = 0; i < count; i += 1) {
    dashboard.log.append(`${i} `.padEnd(8000, 'x'))
    if (i % 20 === 0) await quick.waitFor(i + 1)
  }
  await quick.waitFor(count + 1)
  return count
}

const isReset = ({ data }: SeenEvent): boolean => (data as LogLines).reset

/** The numbers of the lines that a page shows that goes by these events. */
function shownNumbers(events: readonly SeenEvent[]): readonly number[] {
  const since = events.slice(events.findLastIndex(isReset))
  return since.flatMap(({ data }) => (data as LogLines).lines).map((line) => Number.parseInt(line, 10))
}
