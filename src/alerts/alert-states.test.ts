import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quietSums } from '../../test/alerts/quiet-sums.ts'
import { runningStatus } from '../../test/dashboard/scripted-gateway.ts'
import { sampleHealth } from '../../test/support/sample-health.ts'
import type { AlertSetting } from '../api/alerts.ts'
import { type AlertInput, alertRules } from './alert-rules.ts'
import { type AlertState, nextStates } from './alert-states.ts'

const startMs = Date.UTC(2026, 10, 21)
const minuteMs = 60_000

/** The state at one look: the share of the budget, and whether the gateway is down; null is unknown. */
interface Step {
  readonly budget?: number | null
  readonly isDown?: boolean
  readonly settings?: Readonly<Partial<Record<string, AlertSetting>>>
  readonly canSend?: boolean
}

function inputOf({ budget = 0, isDown = false }: Step): AlertInput {
  const token_budget = { ...sampleHealth.token_budget, daily_limit: 100, total_used: budget ?? 0 }
  const status = isDown
    ? ({ ...runningStatus, state: 'stopped', health: null } as const)
    : { ...runningStatus, health: { ...sampleHealth, token_budget } }
  return { status: budget === null ? null : status, isWanted: true, figures: null, sessions: new Map() }
}

/** The messages of a course of looks, each at its minute: `2 begins budget`. */
function course(...looks: readonly (readonly [minute: number, seen: Step])[]): readonly string[] {
  let states: readonly AlertState[] = []
  return looks.flatMap(([minute, step]) => {
    const next = nextStates(states, {
      nowMs: startMs + minute * minuteMs,
      input: inputOf(step),
      settingOf: (code) => step.settings?.[code] ?? { on: true, threshold: alertRules[code].threshold.usual },
      canSend: step.canSend ?? true,
    })
    states = next.states
    return next.dueMessages.map(({ kind, state }) => `${minute} ${kind} ${state.rule}`)
  })
}

test('one message when it begins and one when it has ended for long enough', () => {
  const budgets = { 0: 49, 1: 50, 2: 55, 3: 49, 4: 51, 5: 40, 8: 40, 9: 40, 10: 40 }
  const looks = Object.entries(budgets).map(([minute, budget]) => [Number(minute), { budget }] as const)
  assert.deepEqual(course(...looks), ['1 begins budget', '9 ended budget'])
})

test('while it is so it is told again, every four hours', () => {
  const looks = Array.from({ length: 10 * 60 }, (_, minute) => [minute, { budget: 60 }] as const)
  assert.deepEqual(course(...looks), ['0 begins budget', '240 goes_on budget', '480 goes_on budget'])
})

test('a higher level is told at once, and only the highest', () => {
  const messages = course([0, { budget: 51 }], [1, { budget: 96 }], [2, { budget: 85 }], [3, { budget: 100 }])
  assert.deepEqual(messages, ['0 begins budget', '1 begins budget', '3 begins budget'])
})

test('what must be so for some time is told after it, and not if it was short', () => {
  const down = { isDown: true }
  assert.deepEqual(course([0, down], [0.5, down], [0.9, {}], [2, {}]), [])
  const messages = course([0, down], [1, down], [2, {}], [3, {}])
  assert.deepEqual(messages, ['1 begins gateway_down', '2 ended gateway_down'])
})

test('what nobody knows neither begins nor ends anything', () => {
  const unknown = { budget: null }
  const messages = course([0, { budget: 60 }], [1, unknown], [60, unknown], [61, { budget: 60 }])
  assert.deepEqual(messages, ['0 begins budget'])
})

test('a rule that is switched off ends what it has told', () => {
  const settings = { budget: { on: false, threshold: 50 } }
  const messages = course([0, { budget: 60 }], [1, { budget: 60, settings }])
  assert.deepEqual(messages, ['0 begins budget', '1 ended budget'])
})

test('what began while there was no webhook is told once there is one', () => {
  const messages = course([0, { budget: 60, canSend: false }], [1, { budget: 60 }], [2, { budget: 60 }])
  assert.deepEqual(messages, ['0 begins budget', '1 begins budget'])
})

test('a clock that was set back by a day does not keep an alert open for a day', () => {
  const messages = course([2000, { budget: 60 }], [500, { budget: 0 }])
  assert.deepEqual(messages, ['2000 begins budget', '500 ended budget'])
})

test('names that a client makes up are bounded in number and in length, and carry no marks', () => {
  const names = Array.from({ length: 500 }, (_, index) => `s${index}\u202e${'x'.repeat(500)}\n`)
  const sessions = new Map(names.map((name) => [name, 1000]))
  const input = { ...inputOf({}), figures: quietSums, sessions }
  const look = { nowMs: startMs, input, settingOf: () => ({ on: true, threshold: 20 }), canSend: true }
  const next = nextStates([], look)
  assert.equal(next.dueMessages.length, 10)
  const another = { ...input, sessions: new Map([['new', 1000]]) }
  assert.equal(nextStates(next.states, { ...look, input: another }).dueMessages.length, 0)
  for (const { state } of next.dueMessages) assert.match(state.subject ?? '', /^s\d+ x{100,120}…$/)
})

test('a long name is cut in no character', () => {
  const sessions = new Map(['', 'x'].map((start) => [start + '😀'.repeat(100), 1000]))
  const input = { ...inputOf({}), figures: quietSums, sessions }
  const settingOf = () => ({ on: true, threshold: 20 })
  const { dueMessages } = nextStates([], { nowMs: startMs, input, settingOf, canSend: true })
  const subjects = dueMessages.map(({ state }) => state.subject)
  assert.deepEqual(subjects, [`${'😀'.repeat(60)}…`, `x${'😀'.repeat(59)}…`])
})
