import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UpstreamRow } from '../../src/api/upstreams.ts'
import {
  type UpstreamForm,
  changeOf as changeBy,
  formOf,
  goesThere,
  stateOf,
  termsOf,
} from './upstream-text.ts'

const row: UpstreamRow = {
  name: 'claude',
  urls: ['https://a', 'https://b'],
  models: ['claude-*', 'c'],
  max_concurrent: 3,
  token_limit: null,
  max_rpm: null,
  max_tpm: null,
  limits: {},
  credentials: { env: 'A_KEY' },
  fallback: { to: 'local', models: { c: 'd' } },
  health: null,
}

const changeOf = (form: UpstreamForm, before: UpstreamRow | null): object | string =>
  changeBy((name) => form[name], before)

test('a form that is saved as it was changes nothing, also of what it cannot show', () => {
  assert.deepEqual(changeOf(formOf(row), row), {})
})

test('what is changed is sent, and what is emptied is taken away', () => {
  const form = {
    ...formOf(row),
    urls: ' http://c,  http://d ',
    models: '',
    slots: '',
    fallback: '',
    credentials: 'none',
  }
  assert.deepEqual(changeOf({ ...form, credentials: 'none' }, row), {
    urls: ['http://c', 'http://d'],
    models: null,
    max_concurrent: null,
    credentials: 'none',
    fallback: null,
  })
  const added = { ...formOf(null), name: 'x', urls: 'http://h', models: 'a, b*,', slots: '2', tokens: '50' }
  assert.deepEqual(changeOf(added, null), {
    urls: ['http://h'],
    models: ['a', 'b*'],
    max_concurrent: 2,
    token_limit: 50,
  })
})

test('what cannot be is said', () => {
  assert.match(JSON.stringify(changeOf(formOf(null), null)), /Enter a name/)
  assert.match(JSON.stringify(changeOf({ ...formOf(null), name: 'x' }, null)), /Enter a URL/)
  assert.match(JSON.stringify(changeOf({ ...formOf(row), slots: 'two' }, row)), /whole number/)
  assert.match(JSON.stringify(changeOf({ ...formOf(row), tokens: '-1' }, row)), /whole number of tokens/)
})

test('an upstream tells what goes there, with whose key, and how it is', () => {
  assert.equal(goesThere(row), 'claude-*, c, and paths under /claude/')
  assert.equal(goesThere({ ...row, models: [] }), 'paths under /claude/')
  assert.equal(termsOf(row), 'key from A_KEY; falls back to local')
  assert.equal(
    termsOf({ ...row, fallback: null, token_limit: 500 }),
    'key from A_KEY; 500 tokens in 24 hours',
  )
  const replica = { host: 'a', state: 'up', in_flight: 0, failing_since: null, problem: null } as const
  const failing = {
    ...replica,
    state: 'failing',
    failing_since: '2026-11-23T10:00:00Z',
    problem: 'refused',
  } as const
  const health = {
    name: 'claude',
    state: 'up',
    problem: null,
    rate_limiter: {} as never,
    replicas: [replica, failing],
  } as const
  const time = (): string => 'then'
  assert.deepEqual(stateOf({ ...row, health }, time), {
    shape: 'triangle',
    tone: 'warn',
    words: '1 of 2 failing',
    details: ['a failing since then: refused'],
  })
  assert.equal(stateOf({ ...row, health: { ...health, replicas: [replica] } }, time).words, 'OK')
  assert.equal(
    stateOf({ ...row, health: { ...health, state: 'failing', replicas: [failing] } }, time).tone,
    'bad',
  )
  assert.equal(stateOf(row, time).words, 'Unknown')
})
