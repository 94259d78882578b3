import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProcessStatus } from '../../src/api/process-status.ts'
import type { ProxyConfig } from '../../src/api/proxy-config.ts'
import { sampleHealth, sampleStatus } from '../../test/support/sample-health.ts'
import {
  actionsOf,
  budgetWords,
  consequencesOf,
  curlLine,
  detailOf,
  wrongBaseUrlWords,
} from './gateway-text.ts'
import { baseUrlOf } from '../data/gateway-now.ts'

const config: ProxyConfig = { options: [], needs_restart: [], file: '', upstream_key: 'absent' }

function busy(active: number, queued: number): ProcessStatus {
  return {
    ...sampleStatus,
    health: { ...sampleHealth, rate_limiter: { ...sampleHealth.rate_limiter, active, queued } },
  }
}

test('what a state lets one do', () => {
  const actions = (state: ProcessStatus['state']): string => actionsOf({ ...sampleStatus, state }).join()
  assert.equal(actions('running'), 'stop,restart')
  assert.equal(actions('unresponsive'), 'stop,restart')
  assert.equal(actions('stopped'), 'start')
  for (const state of ['starting', 'draining', 'foreign'] as const) assert.equal(actions(state), '')
})

test('what is behind a state', () => {
  assert.equal(detailOf(sampleStatus), 'on port 9090')
  assert.equal(
    detailOf({ ...sampleStatus, health: { ...sampleHealth, status: 'degraded' } }),
    'on port 9090, with warnings',
  )
  assert.equal(detailOf({ ...sampleStatus, health_ok: false }), 'but its port does not respond')
  assert.equal(detailOf({ ...busy(1, 0), state: 'draining' }), 'finishing 1 call')
  assert.equal(detailOf({ ...sampleStatus, state: 'foreign' }), 'port 9090')
  assert.equal(detailOf({ ...sampleStatus, state: 'stopped' }), '')
})

test('what becomes of calls is told before they are ended', () => {
  const drain = { name: 'drain_timeout_ms', value: 30_000, running: 2500 }
  const knownConfig = { ...config, options: [drain as never], needs_restart: ['upstream', 'a_new_one'] }
  assert.deepEqual(consequencesOf('stop', busy(0, 0), null), [
    'No calls in flight.',
    'Requests will be refused until you start it again.',
  ])
  assert.deepEqual(consequencesOf('stop', busy(3, 1), null), [
    '3 calls in flight can finish.',
    '1 waiting call will be refused.',
    'Requests will be refused until you start it again.',
  ])
  assert.deepEqual(consequencesOf('restart', busy(1, 2), knownConfig), [
    'The old process will finish 1 call in flight and 2 waiting calls.',
    'No call is refused: the new process takes over once it is up.',
    'Applies changes to: Upstream, a_new_one.',
  ])
  assert.deepEqual(consequencesOf('stop', { ...busy(3, 1), state: 'unresponsive' }, knownConfig), [
    'The gateway is not responding: it will be killed, and calls in flight will be cut off.',
  ])
})

test('the address is one that the reader can reach', () => {
  assert.equal(baseUrlOf(sampleStatus, 'box.lan'), 'http://127.0.0.1:9090/v1')
  assert.equal(baseUrlOf({ host: '0.0.0.0', port: 9090 }, 'box.lan'), 'http://box.lan:9090/v1')
  assert.equal(baseUrlOf({ host: '::', port: 9090 }, '[::1]'), 'http://[::1]:9090/v1')
  assert.equal(baseUrlOf({ host: '::1', port: 0 }, 'localhost'), 'http://[::1]:<any free port>/v1')
  assert.equal(baseUrlOf(null, '[::1]'), 'http://[::1]:9090/v1')
  assert.equal(curlLine('http://a/v1', false), 'curl http://a/v1/models')
  assert.match(curlLine('http://a/v1', true), /Bearer \$OPENAI_API_KEY"$/)
})

test('calls with a wrong base URL are told of as one or as many', () => {
  assert.match(wrongBaseUrlWords(1), /^1 call with a wrong base URL was refused\. /)
  assert.match(wrongBaseUrlWords(2), /^2 calls with a wrong base URL were refused\. /)
})

test('the budget tells what is estimated, and that earlier use is not known yet', () => {
  const budget = { ...sampleHealth.token_budget, daily_limit: 2_000_000, total_used: 950 }
  assert.equal(budgetWords(budget), '950 of 2,000,000')
  assert.equal(budgetWords({ ...budget, estimated: 120 }), '950 of 2,000,000, 120 estimated')
  assert.equal(
    budgetWords({ ...budget, total_used: 0, known: false }),
    '0 of 2,000,000, use before the start not loaded yet',
  )
})
