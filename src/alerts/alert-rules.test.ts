import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleHealth } from '../../test/support/sample-health.ts'
import { quietSums as quiet } from '../../test/alerts/quiet-sums.ts'
import { runningStatus } from '../../test/dashboard/scripted-gateway.ts'
import type { HealthReport } from '../api/health-report.ts'
import type { CrashStatus, ProcessStatus } from '../api/process-status.ts'
import type { AlertSums } from '../query/alerts-answer.ts'
import {
  type AlertCode,
  type AlertInput,
  type AlertRule,
  alertRules,
  conditionText,
  ruleList,
} from './alert-rules.ts'

const health = (change: Partial<HealthReport>): ProcessStatus => ({
  ...runningStatus,
  health: { ...sampleHealth, ...change },
})

const budget = (used: number, limit = 1000): ProcessStatus =>
  health({ token_budget: { ...sampleHealth.token_budget, daily_limit: limit, total_used: used } })

const rest: AlertInput = { status: budget(0), isWanted: true, figures: quiet, sessions: new Map() }

const figures = (change: Partial<AlertSums>): Partial<AlertInput> => ({ figures: { ...quiet, ...change } })
const ended = (failed: number, answered: number): Partial<AlertInput> =>
  figures({ window: { ...quiet.window, failed, answered } })
const waits = (n: number, p95_ms: number): Partial<AlertInput> =>
  figures({ window: { ...quiet.window, queue: { n, p95_ms } } })
const first = (p95_ms: number, usual: number, n = 100): Partial<AlertInput> =>
  figures({ ttft: [{ model: 'm', p95_ms, usual: { n, p95_ms: usual } }] })
const hours = (last: number, oldest = 0): Partial<AlertSums> => ({
  day: { cost_usd: 0, tokens_by_hour: [oldest, ...Array.from({ length: 22 }, () => 0), last] },
})
const down = (state: ProcessStatus['state'], isWanted = true): Partial<AlertInput> => ({
  status: { ...runningStatus, state, health: null },
  isWanted,
})

const limitsWith = (remaining: number | null, limit: number | null = 500): Partial<AlertInput> => ({
  status: health({
    provider_limits: [
      {
        upstream: 'default',
        model: 'm',
        key: null,
        kind: 'requests',
        window_s: 60,
        limit,
        remaining,
        reset_at: null,
        seen_at: '2026-11-21T06:00:00.000Z',
      },
    ],
  }),
})

const crashed = (inARow: number, state: CrashStatus['state'], uptimeS = 1): Partial<AlertInput> => ({
  status: {
    ...runningStatus,
    uptime_s: uptimeS,
    crash: {
      pid: 4,
      at: '2026-11-21T06:00:00.000Z',
      exit_code: null,
      signal: 'SIGKILL',
      in_a_row: inARow,
      state,
      failed_starts: 0,
      next_start_at: null,
      text: 'The gateway crashed.',
    },
  },
})

/** The findings of each rule at its usual threshold: subjects, or levels; '' for one of everything. */
const cases: readonly [AlertCode, what: string, Partial<AlertInput>, readonly (string | number)[] | null][] =
  [
    ['gateway_down', 'it runs', {}, []],
    ['gateway_down', 'it was killed', down('stopped'), ['']],
    ['gateway_down', 'its process hangs', down('unresponsive'), ['']],
    ['gateway_down', 'its port was taken', down('foreign'), ['']],
    ['gateway_down', 'it was stopped in order', down('stopped', false), []],
    ['gateway_down', 'it drains', down('draining'), []],
    ['gateway_down', 'nobody knows', { status: null }, null],
    ['gateway_crashed', 'never', {}, []],
    ['gateway_crashed', 'it was started again', crashed(1, 'started_again'), [1]],
    ['gateway_crashed', 'it was started again some time ago', crashed(1, 'started_again', 301), []],
    ['gateway_crashed', 'nobody starts it any more', crashed(1, 'given_up', 301), [1]],
    ['gateway_crashed', 'in a loop', crashed(9, 'waiting'), [3]],
    ['gateway_crashed', 'nobody knows', { status: null }, null],
    ['degraded', 'no warning', {}, []],
    ['degraded', 'a warning', { status: health({ status: 'degraded' }) }, ['']],
    ['budget', '49%', { status: budget(499) }, []],
    ['budget', '50%', { status: budget(500) }, [50]],
    ['budget', '80%', { status: budget(800) }, [80]],
    ['budget', '95%', { status: budget(999) }, [95]],
    ['budget', 'over 100%', { status: budget(1300) }, [100]],
    ['budget', 'no budget', { status: budget(1300, 0) }, []],
    ['budget', 'no gateway', down('stopped'), null],
    ['budget_forecast', 'nothing used in this hour', { status: budget(900), ...figures(hours(0, 5)) }, []],
    ['budget_forecast', 'used up in an hour', { status: budget(900), ...figures(hours(100)) }, ['']],
    ['budget_forecast', 'used up in three hours', { status: budget(700), ...figures(hours(100)) }, []],
    ['budget_forecast', 'as much leaves the day', { status: budget(850), ...figures(hours(100, 100)) }, []],
    ['budget_forecast', 'used up already', { status: budget(1000), ...figures(hours(100)) }, []],
    ['budget_forecast', 'no figures', { figures: null }, null],
    ['spend_day', '$49.99', figures({ day: { ...quiet.day, cost_usd: 49.99 } }), []],
    ['spend_day', '$50', figures({ day: { ...quiet.day, cost_usd: 50 } }), ['']],
    ['spend_month', '$159.99 of $200', figures({ month: { cost_usd: 159.99 } }), []],
    ['spend_month', '$160 of $200', figures({ month: { cost_usd: 160 } }), [80]],
    ['spend_month', 'over $200', figures({ month: { cost_usd: 250 } }), [100]],
    ['spend_session', 'one of two', { sessions: new Map(Object.entries({ a: 19.9, b: 20 })) }, ['b']],
    ['error_ratio', 'all of 19', ended(19, 19), []],
    ['error_ratio', '3 of 20', ended(3, 20), []],
    ['error_ratio', '4 of 20', ended(4, 20), ['']],
    ['error_ratio', 'no figures', { figures: null }, null],
    ['slow_first_token', 'twice as long', first(2000, 1000), ['m']],
    ['slow_first_token', 'nearly twice as long', first(1999, 1000), []],
    ['slow_first_token', 'three times nothing', first(300, 100), []],
    ['slow_first_token', 'a model that is new', first(9000, 1000, 99), []],
    ['queue_wait', '30 s, of 20 calls', waits(20, 30_000), ['']],
    ['queue_wait', '29 s', waits(20, 29_000), []],
    ['queue_wait', 'of 19 calls', waits(19, 90_000), []],
    ['provider_limit', 'no answer has told', { status: health({ provider_limits: [] }) }, []],
    ['provider_limit', 'a tenth is left', limitsWith(50), []],
    ['provider_limit', 'less than a tenth is left', limitsWith(49), ['m']],
    ['provider_limit', 'the limit itself is not told', limitsWith(0, null), []],
    ['provider_limit', 'what is left is not told', limitsWith(null), []],
    ['provider_limit', 'no gateway', down('stopped'), null],
    ['velocity', 'under', figures({ tokens: [{ by: 'client', name: 'c', tokens: 4_999_999 }] }), []],
    ['velocity', 'over', figures({ tokens: [{ by: 'session', name: 's', tokens: 5_000_000 }] }), ['s']],
    ['unpriced', 'none', {}, []],
    ['unpriced', 'one', figures({ unpriced: [{ model: 'm', calls: 1 }] }), ['m']],
  ]

for (const [code, what, input, expected] of cases) {
  test(`${code}: ${what}`, () => {
    const rule: AlertRule = alertRules[code]
    const alerts = rule.find({ ...rest, ...input }, rule.threshold.usual)
    const summaries = alerts?.map(({ level, subject }) => level ?? subject ?? '') ?? null
    assert.deepEqual(summaries, expected)
  })
}

test('every rule has a case, and is in bounds', () => {
  assert.deepEqual(new Set(cases.map(([code]) => code)), new Set(ruleList.map(([code]) => code)))
  for (const [, { threshold }] of ruleList) {
    assert.ok(threshold.usual >= threshold.min && threshold.usual <= threshold.max)
  }
})

test('a crash is told in the words of the status', () => {
  const alerts = alertRules.gateway_crashed.find({ ...rest, ...crashed(2, 'started_again') }, 1)
  assert.deepEqual(alerts, [{ text: 'The gateway crashed.', level: 1 }])
})

test('a threshold stands in the words of its rule', () => {
  const words = ruleList.map(([, rule]) => conditionText(rule, rule.threshold.usual))
  assert.ok(words.every((text) => !/[{}]|undefined/.test(text)))
  assert.match(conditionText(alertRules.unpriced, 1), /: 1 call or more/)
  assert.match(conditionText(alertRules.spend_day, 0.5), /cost \$0\.50 or more/)
})
