import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PayloadEvent } from '../../src/api/dashboard-event.ts'
import type { LiveCalls, LiveState } from '../../src/api/live-calls.ts'
import type { OutgoingRecord, PayloadRecord } from '../../src/api/raw-log.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import { sampleLiveCall } from '../../test/support/live-call.ts'
import { sampleIncoming, sampleOutgoing } from '../../test/support/sample-records.ts'
import { defaultAddress } from '../data/page-address.ts'
import { LiveFeed, liveFilterOf, shownCalls } from './live-feed.ts'

const startMs = Date.UTC(2026, 10, 21, 12)
const at = (second: number): string => new Date(startMs + second * 1000).toISOString()

function started(id: string, second = 0): PayloadEvent {
  return { type: 'started', id, timestamp: at(second), method: 'POST', path: '/v1/chat/completions' }
}

function request(id: string, text: string, rest: Partial<PayloadRecord> = {}): PayloadRecord {
  return {
    ...sampleIncoming,
    id,
    timestamp: at(0),
    body: { messages: [{ role: 'user', content: text }] },
    model: 'm',
    ...rest,
  }
}

function answer(id: string, text: string, rest: Partial<OutgoingRecord> = {}): OutgoingRecord {
  return {
    ...sampleOutgoing,
    id,
    timestamp: at(3),
    body: { choices: [{ message: { content: text } }] },
    model: 'm',
    duration_ms: 3000,
    ...rest,
  }
}

function tell(feed: LiveFeed, ...events: readonly PayloadEvent[]): void {
  for (const event of events) feed.take(event, JSON.stringify(event))
}

test('a call is one row from its beginning to its end', () => {
  const feed = new LiveFeed()
  tell(feed, { type: 'connected', enabled: false }, started('a'))
  const [call] = feed.calls
  assert.ok(call !== undefined)
  assert.deepEqual([feed.isConnected, call.ended, call.model, call.isComplete], [true, null, null, false])
  tell(feed, request('a', 'one\n two'))
  assert.deepEqual([call.promptWords, call.model, call.isComplete], ['one two', 'm', true])
  tell(feed, answer('a', 'three'))
  assert.equal(feed.calls.length, 1)
  const { answerWords, durationMs, ended, isComplete } = call
  assert.deepEqual([answerWords, durationMs, ended?.outcome, isComplete], ['three', 3000, 'ok', true])
  assert.deepEqual(call.payloads().answer?.record.body, { choices: [{ message: { content: 'three' } }] })
})

test('a call of which only the end was heard stands where it began', () => {
  const feed = new LiveFeed()
  tell(feed, started('b', 2), answer('a', 'x'))
  assert.equal(feed.calls.map(({ id, startedMs }) => [id, startedMs - startMs]).join(' '), 'a,0 b,2000')
  assert.equal(feed.calls[0]?.isComplete, false)
})

test('the list is bounded, and so is what is held of its calls', () => {
  const feed = new LiveFeed(10, 20_000)
  for (let index = 0; index < 100; index += 1) {
    const id = `call${index}`
    tell(feed, started(id, index), request(id, 'x'.repeat(2000)), answer(id, 'y'.repeat(2000)))
    assert.ok(feed.heldLength <= 20_000)
    assert.equal(
      feed.heldLength,
      feed.calls.reduce((sum, call) => sum + call.heldLength, 0),
    )
  }
  assert.deepEqual([feed.calls.length, feed.total], [10, 100])
  const [oldest, newest] = [feed.calls[0], feed.calls.at(-1)]
  assert.deepEqual([oldest?.id, oldest?.isComplete, oldest?.promptWords.length], ['call90', false, 181])
  assert.deepEqual([newest?.id, newest?.isComplete], ['call99', true])
  // The answer of a call whose request was dropped is dropped, too.
  tell(feed, answer('call90', 'z'.repeat(2000)))
  assert.ok(feed.heldLength <= 20_000)
})

test('what was not heard is said', () => {
  const feed = new LiveFeed()
  tell(feed, started('a'), started('b'), { type: 'dropped', count: 7 })
  assert.deepEqual([feed.dropped, feed.calls[0]?.isLost], [7, true])
  // The end of the first call arrives after all.
  tell(feed, answer('a', 'x'), { type: 'disconnected' })
  assert.deepEqual([feed.calls[0]?.isLost, feed.calls[1]?.isLost, feed.isConnected], [false, true, false])
  assert.equal(feed.hasGap, false)
  tell(feed, { type: 'connected', enabled: false })
  assert.deepEqual([feed.hasGap, feed.isConnected], [false, true])
  tell(feed, { type: 'disconnected' }, { type: 'disconnected' }, { type: 'connected', enabled: false })
  assert.equal(feed.hasGap, true)
  tell(feed, started('c'))
  feed.clear()
  assert.equal(feed.calls.map(({ id }) => id).join(' '), 'c')
  assert.deepEqual([feed.dropped, feed.hasGap, feed.heldLength], [0, false, 0])
})

function row(id: string, second: number, rest: Partial<CallJson> = {}): CallJson {
  const call = { id, started_at: at(second), method: 'POST', endpoint: '/v1/chat/completions', model: 'm' }
  const end = { status: 200, outcome: 'ok', failure_code: null, duration_ms: 1500 }
  return { ...call, ...end, ...rest } as unknown as CallJson
}

function live(id: string, state: LiveState, second = 0): LiveCalls['calls'][number] {
  return { ...sampleLiveCall, id, started_at: at(second), state }
}

test('what waits is told apart, and what began before anybody listened is there to its end', () => {
  const feed = new LiveFeed()
  tell(feed, { type: 'connected', enabled: false }, started('c', 2))
  feed.takeLive({ calls: [live('b', 'queued', 1), live('a', 'streaming')], more: 0 })
  // The report lacks the call that has just begun.
  const shown = feed.calls.map(({ id, state, model }) => `${id} ${state} ${model}`)
  assert.deepEqual(shown, ['a streaming m', 'b queued m', 'c null null'])
  feed.takeLive({ calls: [live('c', 'queued', 2), live('b', 'streaming', 1)], more: 0 })
  assert.deepEqual([feed.calls[0]?.state, feed.calls[0]?.isUnderWay], ['over', false])
  feed.takeRecorded([row('a', 0), row('z', -60, { outcome: 'upstream_error', status: 500 })])
  const ends = feed.calls.map(({ id, ended, durationMs }) => `${id} ${ended?.outcome} ${durationMs}`)
  assert.deepEqual(ends, ['z upstream_error 1500', 'a ok 1500', 'b undefined null', 'c undefined null'])
  // The feed's record of an end has more than the row.
  feed.takeRecorded([row('c', 2)])
  tell(feed, answer('c', 'said'))
  assert.deepEqual([feed.calls[3]?.answerWords, feed.calls[3]?.durationMs], ['said', 3000])
})

test('calls beyond those that are told have not ended, and what was lost is found', () => {
  const feed = new LiveFeed(2, 1000)
  tell(feed, started('a'), started('b', 1))
  feed.takeLive({ calls: [live('b', 'streaming', 1), live('a', 'streaming')], more: 0 })
  feed.takeLive({ calls: [live('b', 'queued', 1)], more: 1 })
  assert.equal(feed.calls.map(({ state }) => state).join(' '), 'streaming queued')
  feed.interrupt()
  assert.equal(feed.calls[1]?.isLost, true)
  const calls = [live('b', 'queued', 1), live('a', 'streaming'), live('0', 'streaming', -9)]
  feed.takeLive({ calls, more: 0 })
  assert.equal(feed.calls.map(({ id, isLost }) => [id, isLost]).join(' '), 'a,false b,false')
})

test('what was cleared does not come back', () => {
  const feed = new LiveFeed()
  tell(feed, { type: 'connected', enabled: false }, started('a'), answer('a', 'x'))
  feed.clear()
  feed.takeRecorded([row('a', 0)])
  assert.deepEqual(feed.calls, [])
})

test('calls are found by model, by failure, and by any text of their payloads', () => {
  const feed = new LiveFeed()
  const failed = { outcome: 'upstream_error', status: 429, body: { error: { message: 'Slow' } } } as const
  tell(feed, request('a', 'Where is "Lyon"? (1+1)'), answer('a', 'In France.'))
  tell(feed, request('b', 'x', { model: 'n' }), answer('b', '', { model: 'n', ...failed }), started('c'))
  const shown = (change: Partial<typeof defaultAddress>): string =>
    shownCalls(feed.calls, liveFilterOf({ ...defaultAddress, ...change }))
      .map(({ id }) => id)
      .join('')
  assert.deepEqual([shown({}).length, shown({ models: ['n'] }), shown({ errorsOnly: true })], [3, 'b', 'b'])
  const found = ['lyon', '"Lyon"? (1+1)', 'in france', '.*'].map((text) => shown({ text }))
  assert.deepEqual(found, ['a', 'a', 'a', ''])
  assert.equal(feed.calls.find(({ id }) => id === 'b')?.answerWords, 'Slow')
})

test('rows tell what is no text, and what is too long', () => {
  const feed = new LiveFeed()
  const long = { truncated: true, body_bytes: 2_000_000 }
  tell(
    feed,
    request('a', '', { body: 'AAAA', body_encoding: 'base64', body_bytes: 1200 }),
    request('b', '', { body: '{"messages":[', ...long }),
    request('d', '', { body: '{"messages":[{"role":"user","content":"Mend \\"it\\"', ...long }),
    request('c', '', { body: { messages: [{ role: 'tool', tool_call_id: 'x', content: '42' }] } }),
    answer('c', '', { body: null, text: '', reasoning: 'Let me think.' }),
  )
  assert.deepEqual(
    feed.calls.map(({ promptWords }) => promptWords),
    ['1.2 kB that are no text', '2 MB, too long for this list', '2 MB: Mend "it"', 'Tool: 42'],
  )
  assert.equal(feed.calls[3]?.answerWords, 'Let me think.')
})
