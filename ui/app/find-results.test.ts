import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultAddress, writeAddress } from '../data/page-address.ts'
import { type Answers, callIdIn, resultsFor, mayBeRequestId, mostOfKind } from './find-results.ts'

const nothing: Answers = { models: [], clients: [], sessions: [], call: undefined, calls: [] }
const call = { id: '6gzw5raer00', started_at: '2026-11-21T12:00:00.000Z', model: 'gpt', endpoint: '/v1/x' }
const address = { ...defaultAddress, range: { last: '7d' }, models: ['other'] } as const

/** Returns each result with its text and the address that it opens. */
function ways(text: string, answers: Partial<Answers> = {}, from = address): readonly (readonly string[])[] {
  return resultsFor(text, from, { ...nothing, ...answers }, () => '12:00').flatMap(({ name, results }) =>
    results.map(({ words, to }) => [name, words, writeAddress(to)]),
  )
}

test('an id is eleven digits of base32, and the upstream’s has a digit and no space', () => {
  assert.equal(callIdIn('6GZW5RAER00'), '6gzw5raer00')
  for (const text of ['8gzw5raer00', '6gzw5raer0', '6gzw5raer0u', '']) assert.equal(callIdIn(text), null)
  for (const id of ['chatcmpl-123', 'req_011CVa']) assert.ok(mayBeRequestId(id), id)
  for (const text of ['req_1', 'upstream_reset', 'run of 2026']) assert.ok(!mayBeRequestId(text), text)
})

test('a call is there before the dashboard has answered, and goes if there is none', () => {
  const way = ['Calls', '6gzw5raer00', '/calls?range=7d&call=6gzw5raer00']
  assert.deepEqual(ways('6GZW5RAER00', { call: null }), [way])
  assert.deepEqual(ways('6gzw5raer00', { call }), [way])
  assert.deepEqual(ways('6gzw5raer00'), [])
  assert.deepEqual(ways('req_0001', { calls: [call] })[0], way)
  // The list of Calls keeps its address.
  const inCalls = ways('6gzw5raer00', { call }, { ...address, view: 'calls' } as never)
  assert.deepEqual(inCalls, [['Calls', '6gzw5raer00', '/calls?range=7d&model=other&call=6gzw5raer00']])
})

test('a status and a failure code filter Calls', () => {
  assert.deepEqual(ways('429')[0], ['Calls', 'Calls with status 429', '/calls?range=7d&status=429'])
  assert.deepEqual(
    ways('upstream_reset', { sessions: [{ value: 'with such a call', calls: 1 }] }).map(([, , to]) => to),
    ['/calls?range=7d&q=upstream_reset'],
  )
  assert.deepEqual(ways(''), [])
})

test('names are found by any part of them, at most eight of a kind', () => {
  const models = Array.from({ length: 20 }, (_, at) => ({ value: `GPT-${19 - at}`, calls: 20 - at }))
  const answers = {
    models,
    clients: [{ value: 'codex', calls: 1 }],
    sessions: [{ value: 'gpt run', calls: 2 }],
  }
  const results = ways('gpt', answers)
  assert.equal(results.filter(([name]) => name === 'Models').length, mostOfKind)
  assert.deepEqual(results[0], ['Models', 'GPT-19', '/calls?range=7d&model=GPT-19'])
  assert.deepEqual(results[mostOfKind], ['Sessions', 'gpt run', '/sessions?session=gpt+run'])
  assert.deepEqual(ways('gpt-1', answers)[0], ['Models', 'GPT-1', '/calls?range=7d&model=GPT-1'])
  assert.deepEqual(ways('gpt-19', answers)[0]?.[1], 'GPT-19')
  assert.deepEqual(ways('CODE', answers)[0], ['Clients', 'codex', '/calls?range=7d&client=codex'])
})
