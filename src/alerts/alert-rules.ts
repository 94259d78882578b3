import type { AlertRuleReport } from '../api/alerts.ts'
import type { ProcessStatus } from '../api/process-status.ts'
import { count, dollars, duration, longDuration, percent } from '../lib/number-format.ts'
import type { AlertSums } from '../query/alerts-answer.ts'

/** The figures that the rules read; null if one could not be read this time. */
export interface AlertInput {
  readonly status: ProcessStatus | null
  /** True if the gateway ran and was not stopped on purpose since. */
  readonly isWanted: boolean
  readonly figures: AlertSums | null
  /** The cost so far, in dollars, of sessions with a call in the last five minutes. */
  readonly sessions: ReadonlyMap<string, number>
}

/** A condition that a rule has found to hold now. */
export interface FoundAlert {
  /** A model, client or session; one alert for each. */
  readonly subject?: string
  readonly text: string
  /** The level of the alert (default: 0). A higher level than that of the last message sends a new message. */
  readonly level?: number
}

/** A rule: when its alert begins and ends, and its text. `docs/alerts.md` explains the defaults. */
export interface AlertRule {
  readonly title: string
  /** The condition; `{}` is replaced by the threshold with its unit. */
  readonly asks: string
  readonly threshold: Pick<AlertRuleReport, 'unit' | 'min' | 'max' | 'usual'>
  /** True for a rule that is off by default. */
  readonly isOptional?: true
  /** True if the threshold is a time: the condition must hold for so many seconds. Other rules report at once. */
  readonly isDelay?: true
  /** The alert ends after this time (ms) without the condition. */
  readonly quietMs: number
  /** The subjects beyond the threshold; null if unknown. */
  readonly find: (input: AlertInput, threshold: number) => readonly FoundAlert[] | null
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** Fewest calls for a ratio or a percentile. */
const minSample = 20
/** A smaller delay of the first token is not noticeable. */
const leastLateMs = 500
/** The levels of reminders in percent of a token budget. */
const budgetLevels = [50, 80, 95, 100]
/** The levels of reminders in percent of a month's budget in USD. */
const moneyLevels = [80, 100]
/** The levels of reminders in crashes in a row. */
const crashLevels = [3, 10, 30, 100]
/** Seconds after a crash, from which on a running gateway counts as well. */
const crashTellS = 300

/** The alert of a rule without subjects; empty if its condition does not hold. */
const when = (isSo: boolean, text: () => string): readonly FoundAlert[] => (isSo ? [{ text: text() }] : [])

/** Rules on figures: null if the figures are unknown. */
const ofFigures =
  (find: (figures: AlertSums, threshold: number, input: AlertInput) => readonly FoundAlert[]) =>
  (input: AlertInput, threshold: number): readonly FoundAlert[] | null =>
    input.figures === null ? null : find(input.figures, threshold, input)

/** All rules, by their codes in `alerts.json`. */
export const alertRules = {
  gateway_down: {
    title: 'Gateway down',
    asks: 'The gateway has been down for {} without being stopped',
    threshold: { unit: 's', min: 0, max: 86_400, usual: 60 },
    isDelay: true,
    quietMs: minuteMs,
    find: ({ status, isWanted }) =>
      status &&
      when(isWanted && ['stopped', 'unresponsive', 'foreign'].includes(status.state), () => downText(status)),
  },
  gateway_crashed: {
    title: 'Gateway crashed',
    asks: 'The gateway has crashed {} or more in a row (reminders at 3, 10, 30 and 100)',
    threshold: { unit: 'times', min: 1, max: 100, usual: 1 },
    quietMs: 5 * minuteMs,
    find: ({ status }, threshold) => {
      if (status === null) return null
      const { crash } = status
      const isOld = crash?.state === 'started_again' && (status.uptime_s ?? 0) > crashTellS
      const level = crash === null ? null : levelAt(crash.in_a_row, threshold, crashLevels)
      return crash === null || isOld || level === null ? [] : [{ text: crash.text, level }]
    },
  },
  degraded: {
    title: 'Gateway degraded',
    asks: 'The gateway has reported problems for {}',
    threshold: { unit: 's', min: 0, max: 86_400, usual: 120 },
    isDelay: true,
    quietMs: 2 * minuteMs,
    find: ({ status }) =>
      status &&
      when(status.health?.status === 'degraded', () => {
        const codes = status.health?.warnings.map(({ code }) => code) ?? []
        return `It runs, but warns: ${codes.join(', ') || 'without a reason'}.`
      }),
  },
  budget: {
    title: 'Token budget',
    asks: 'At least {} of the token budget is used (reminders at 50, 80, 95 and 100%)',
    threshold: { unit: '%', min: 1, max: 100, usual: 50 },
    quietMs: 5 * minuteMs,
    find: ({ status }, threshold) => {
      const budget = status?.health?.token_budget
      if (budget === undefined) return null
      const { daily_limit: limit, total_used: used } = budget
      const share = limit > 0 ? (used / limit) * 100 : 0
      const level = levelAt(share, threshold, budgetLevels)
      const part = percent(Math.floor(share) / 100)
      const text = `${part} of the token budget is used: ${count(used)} of ${count(limit)} in 24 hours.`
      return level === null ? [] : [{ text, level }]
    },
  },
  budget_forecast: {
    title: 'Token budget soon used up',
    asks: 'At the rate of the last hour, the token budget runs out within {}',
    threshold: { unit: 'h', min: 1, max: 24, usual: 2 },
    quietMs: 15 * minuteMs,
    find: ({ status, figures }, threshold) => {
      const budget = status?.health?.token_budget
      if (budget === undefined || figures === null) return null
      const hours = hoursLeft(budget, figures.day.tokens_by_hour)
      const text = (): string =>
        `At the rate of the last hour the token budget is used up in ${longDuration(hours * 3600)}.`
      return when(hours <= threshold, text)
    },
  },
  spend_day: {
    title: 'Spend in 24 hours',
    asks: 'Calls of the last 24 hours cost {} or more',
    threshold: { unit: 'USD', min: 0.01, max: 1_000_000, usual: 50 },
    quietMs: hourMs,
    find: ofFigures(({ day }, threshold) =>
      when(day.cost_usd >= threshold, () => `Calls of the last 24 hours cost ${dollars(day.cost_usd)}.`),
    ),
  },
  spend_month: {
    title: 'Money budget of a month',
    asks: 'Calls of this month cost {} or more (a first alert at 80%)',
    threshold: { unit: 'USD', min: 0.01, max: 1_000_000, usual: 200 },
    isOptional: true,
    quietMs: hourMs,
    find: ofFigures(({ month: { cost_usd: usd } }, threshold) => {
      const share = (usd / threshold) * 100
      const level = moneyLevels.findLast((candidate) => candidate <= share)
      const part = percent(Math.floor(share) / 100)
      const text = `Calls of this month cost ${dollars(usd)}: ${part} of ${dollars(threshold)}.`
      return level === undefined ? [] : [{ text, level }]
    }),
  },
  spend_session: {
    title: 'Spend of a session',
    asks: 'An active session has cost {} or more',
    threshold: { unit: 'USD', min: 0.01, max: 1_000_000, usual: 20 },
    quietMs: hourMs,
    find: ofFigures((_, threshold, { sessions }) =>
      [...sessions]
        .filter(([, usd]) => usd >= threshold)
        .map(([subject, usd]) => ({ subject, text: `This session has cost ${dollars(usd)} so far.` })),
    ),
  },
  error_ratio: {
    title: 'Failing calls',
    asks: `{} or more of the calls of 5 minutes failed (at least ${minSample} calls)`,
    threshold: { unit: '%', min: 1, max: 100, usual: 20 },
    quietMs: 5 * minuteMs,
    find: ofFigures(({ window: { failed, answered } }, threshold) =>
      when(
        answered >= minSample && failed * 100 >= threshold * answered,
        () => `${percent(failed / answered)} of ${count(answered)} calls failed in 5 minutes.`,
      ),
    ),
  },
  slow_first_token: {
    title: 'Slow first tokens',
    asks: 'The p95 time to first token of a model is {} that of the week before',
    threshold: { unit: '×', min: 1.1, max: 100, usual: 2 },
    quietMs: 10 * minuteMs,
    find: ofFigures(({ ttft }, threshold) =>
      ttft
        .filter(({ p95_ms: ms, usual: { n, p95_ms: before } }) => {
          const isLate = ms >= threshold * before && ms - before >= leastLateMs
          return n >= 5 * minSample && isLate
        })
        .map(({ model, p95_ms: ms, usual }) => {
          const words = `${duration(ms)} at the 95th percentile of 5 minutes; ${duration(usual.p95_ms)} in the week before.`
          return { subject: model, text: `First tokens take ${words}` }
        }),
    ),
  },
  queue_wait: {
    title: 'Long waits for a slot',
    asks: `The p95 wait for a slot is {} or more over 5 minutes (at least ${minSample} calls)`,
    threshold: { unit: 's', min: 0.1, max: 3600, usual: 30 },
    quietMs: 5 * minuteMs,
    find: ofFigures(({ window: { queue } }, threshold) =>
      when(
        queue.n >= minSample && queue.p95_ms >= threshold * 1000,
        () => `Calls wait ${duration(queue.p95_ms)} for a slot at the 95th percentile of 5 minutes.`,
      ),
    ),
  },
  provider_limit: {
    title: 'Limit of a provider nearly reached',
    asks: 'Less than {} is left of a provider’s rate limit',
    threshold: { unit: '%', min: 1, max: 100, usual: 10 },
    quietMs: 5 * minuteMs,
    find: ({ status }, threshold) => {
      const limits = status?.health?.provider_limits
      if (limits === undefined) return null
      const texts = new Map<string, string[]>()
      for (const { upstream, model, kind, limit, remaining } of limits) {
        if (kind === 'wait' || limit === null || remaining === null) continue
        if (remaining * 100 >= threshold * limit) continue
        const subject = model ?? upstream
        const text = `${count(remaining)} of ${count(limit)} ${kind.replace('_', ' ')}`
        texts.set(subject, [...(texts.get(subject) ?? []), text])
      }
      return Array.from(texts, ([subject, limitTexts]) => ({
        subject,
        text: `Left of its provider's limits: ${[...new Set(limitTexts)].join(', ')}.`,
      }))
    },
  },
  velocity: {
    title: 'Runaway session or client',
    asks: 'A session, or a client without one, uses {} or more over 5 minutes',
    threshold: { unit: 'tokens/min', min: 100, max: 1_000_000_000, usual: 1_000_000 },
    quietMs: 5 * minuteMs,
    find: ofFigures(({ tokens }, threshold) =>
      tokens
        .filter((user) => user.tokens / 5 >= threshold)
        .map(({ by, name, tokens }) => ({
          subject: name,
          text: `This ${by} uses ${count(tokens / 5)} tokens a minute, over 5 minutes.`,
        })),
    ),
  },
  unpriced: {
    title: 'Calls without a price',
    asks: 'A model of an upstream elsewhere was called without a known price: {} or more in 5 minutes',
    threshold: { unit: 'calls', min: 1, max: 1_000_000, usual: 1 },
    quietMs: hourMs,
    find: ofFigures(({ unpriced }, threshold) =>
      unpriced
        .filter(({ calls }) => calls >= threshold)
        .map(({ model }) => ({
          subject: model,
          text: 'Its calls have no price, and are in no sum of costs: `tokenweir costs set` gives it one.',
        })),
    ),
  },
} as const satisfies Readonly<Record<string, AlertRule>>

export type AlertCode = keyof typeof alertRules

/** The table as a list. */
export const ruleList: readonly (readonly [AlertCode, AlertRule])[] = Object.entries(
  alertRules,
) as unknown as readonly (readonly [AlertCode, AlertRule])[]

/** The title of a rule; its code, if this version does not have the rule. */
export function titleOf(code: string): string {
  return ruleList.find(([ruleCode]) => ruleCode === code)?.[1].title ?? code
}

/** A rule in words, with its threshold. */
export function conditionText({ asks, threshold: { unit } }: AlertRule, threshold: number): string {
  return `${asks.replace('{}', thresholdText(threshold, unit))}.`
}

function thresholdText(threshold: number, unit: string): string {
  if (unit === 'USD') return dollars(threshold)
  const figure = Number.isInteger(threshold) ? count(threshold) : String(threshold)
  if (unit === '%' || unit === '×') return `${figure}${unit}`
  return `${figure} ${threshold === 1 ? unit.replace(/s$/, '') || unit : unit}`
}

/** Why no gateway runs. The supervisor's own message is not used, because it may name files of this machine. */
function downText({ state, port }: ProcessStatus): string {
  if (state === 'unresponsive') return 'Its process exists but does not answer.'
  if (state === 'foreign') return `It ended unexpectedly, and something else listens on port ${port}.`
  return 'It ended unexpectedly, or did not start.'
}

/** The highest level that a figure has reached: the threshold, or one of `levels`; null below the threshold. */
function levelAt(figure: number, threshold: number, levels: readonly number[]): number | null {
  if (figure < threshold) return null
  return Math.max(threshold, ...levels.filter((level) => level <= figure))
}

/** Hours until the budget is used up at the rate of the last hour. Tokens older than a day no longer count then. */
function hoursLeft(
  { daily_limit: limit, total_used: used }: { readonly daily_limit: number; readonly total_used: number },
  byHour: readonly number[],
): number {
  const rate = byHour.at(-1) ?? 0
  let remaining = limit - used
  if (limit <= 0 || rate <= 0 || remaining <= 0) return Number.POSITIVE_INFINITY
  for (const [hour, old] of byHour.entries()) {
    const growth = rate - old
    if (growth > 0 && remaining <= growth) return hour + remaining / growth
    remaining -= growth
  }
  return Number.POSITIVE_INFINITY
}
