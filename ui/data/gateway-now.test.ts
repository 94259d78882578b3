import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HealthReport, UpstreamHealth } from '../../src/api/health-report.ts'
import type { CrashStatus, GatewayState, ProcessStatus } from '../../src/api/process-status.ts'
import { sampleHealth, sampleStatus } from '../../test/support/sample-health.ts'
import { type GatewayNow, gatewayNow } from './gateway-now.ts'

const health: HealthReport = {
  ...sampleHealth,
  rate_limiter: { ...sampleHealth.rate_limiter, active: 3 },
  token_budget: {
    ...sampleHealth.token_budget,
    daily_limit: 1_000_000,
    total_used: 364_999,
    percentage_used: 36.4999,
  },
}
const status: ProcessStatus = { ...sampleStatus, health }

const withLimiter = (rest: Partial<HealthReport['rate_limiter']>): GatewayNow =>
  gatewayNow({ ...status, health: { ...health, rate_limiter: { ...health.rate_limiter, ...rest } } })

const withUse = (used: number, limit: number): GatewayNow =>
  gatewayNow({
    ...status,
    health: { ...health, token_budget: { ...health.token_budget, daily_limit: limit, total_used: used } },
  })

test('of several upstreams the bar tells the one that is full, and what the gateway before still finishes', () => {
  const upstream = (name: string, active: number, queued: number): UpstreamHealth => ({
    name,
    state: 'up',
    problem: null,
    replicas: [],
    rate_limiter: { ...health.rate_limiter, max_concurrent: 3, active, queued },
  })
  const words = (upstreams: readonly UpstreamHealth[], calls: number): string | undefined =>
    gatewayNow({
      ...status,
      health: { ...health, rate_limiter: { ...health.rate_limiter, max_concurrent: 6 }, upstreams },
      predecessors: calls === 0 ? [] : [{ pid: 2, calls }],
    }).load?.slotWords
  assert.equal(words([upstream('default', 0, 0), upstream('beta', 3, 2)], 0), '3 of 3 slots at beta')
  assert.equal(words([upstream('default', 1, 0), upstream('beta', 2, 0)], 0), '3 of 6 slots')
  assert.equal(words([upstream('default', 3, 0)], 1), '3 of 6 slots + 1 finishing')
})

test('with several gateways the bar tells what all have in use, unless the database that they share is away', () => {
  const shared = {
    gateways: 3,
    held: 9,
    held_here: 3,
    active_all: 7,
    waiting_all: 2,
    lease_s: 600,
    engine: 'ok',
  }
  const load = (change: Partial<typeof shared>) =>
    gatewayNow({
      ...status,
      health: {
        ...health,
        rate_limiter: { ...health.rate_limiter, max_concurrent: 12 },
        shared: { ...shared, ...change },
      },
    }).load
  assert.deepEqual([load({})?.active, load({})?.queued], [7, 2])
  assert.equal(load({})?.slotWords, '7 of 12 slots, 3 gateways')
  assert.deepEqual([load({ engine: 'away' })?.active, load({ engine: 'away' })?.ofAll], [3, ''])
  assert.deepEqual([load({ gateways: 1 })?.active, load({ gateways: 1 })?.ofAll], [3, ''])
})

test('a crash is told until the gateway has run for a while again', () => {
  const crash: CrashStatus = {
    text: '',
    pid: 1,
    at: '2026-11-21T06:00:00.000Z',
    exit_code: null,
    signal: 'SIGKILL',
    in_a_row: 1,
    state: 'started_again',
    failed_starts: 0,
    next_start_at: null,
  }
  const words = (change: Partial<ProcessStatus>): string => {
    const { tone, words } = gatewayNow({ ...status, crash, ...change })
    return `${words}: ${tone}`
  }
  const down = { state: 'stopped', running: false, health: null } as const
  assert.equal(words({ uptime_s: 299 }), 'Running, restarted after a crash: warn')
  assert.equal(words({ uptime_s: 300 }), 'Running: good')
  assert.equal(words({ ...down, crash: { ...crash, state: 'waiting' } }), 'Crashed, restarting: bad')
  assert.equal(words({ ...down, crash: { ...crash, state: 'given_up' } }), 'Stopped: bad')
})

test('every state has words, a tone and a shape of its own', () => {
  const words: Readonly<Record<GatewayState, string>> = {
    starting: 'Starting: quiet',
    running: 'Running: good',
    draining: 'Draining: warn',
    stopped: 'Stopped: bad',
    unresponsive: 'Not responding: bad',
    foreign: 'Port in use by another program: bad',
  }
  const shapes = new Set<string>()
  for (const state of Object.keys(words) as GatewayState[]) {
    const look = gatewayNow({ ...status, state, running: state !== 'stopped' })
    assert.equal(`${look.words}: ${look.tone}`, words[state])
    assert.equal(look.canStart, state === 'stopped')
    shapes.add(look.shape)
  }
  assert.equal(shapes.size, 6)
})

test('what runs and is not well says so', () => {
  const degraded = gatewayNow({ ...status, health: { ...health, status: 'degraded' } })
  assert.deepEqual([degraded.tone, degraded.words], ['warn', 'Running, with warnings'])
  const silent = gatewayNow({ ...status, health_ok: false })
  assert.deepEqual([silent.tone, silent.words], ['warn', 'Port not responding'])
})

test('slots and the queue are told in words', () => {
  assert.deepEqual(
    [withLimiter({}).load?.slotWords, withLimiter({}).load?.queueWords],
    ['3 of 4 slots', 'none waiting'],
  )
  assert.equal(withLimiter({ max_concurrent: 1, active: 0 }).load?.slotWords, '0 of 1 slot')
  assert.equal(withLimiter({ queued: 2 }).load?.queueWords, '2 waiting')
})

test('where there is no gateway nothing is said of its load', () => {
  assert.equal(gatewayNow({ ...status, state: 'stopped', running: false, health: null }).load, null)
  assert.equal(gatewayNow({ ...status, health: null }).load, null)
})

test('the budget warns from 80 per cent, and is over from 100', () => {
  const cases: readonly (readonly [used: number, words: string, tone: string])[] = [
    [0, '0%', 'quiet'],
    [1, '0.1%', 'quiet'],
    [364, '36.4%', 'quiet'],
    [799, '79.9%', 'quiet'],
    [800, '80%', 'warn'],
    [999, '99.9%', 'warn'],
    [1000, '100%', 'bad'],
    [1250, '125%', 'bad'],
  ]
  for (const [used, words, tone] of cases) {
    const budget = withUse(used, 1000).load?.budget
    assert.deepEqual([budget?.shareWords, budget?.tone], [words, tone], String(used))
  }
  assert.equal(withUse(5, 0).load?.budget, null)
  assert.equal(
    withUse(1_200_000, 480_000_000).load?.budget?.words,
    '1,200,000 of 480,000,000 tokens used in the last 24 hours',
  )
})
