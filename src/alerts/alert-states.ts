import { type MessageOf, isFlag, isNumber, isText, nullable, record } from '../lib/message-shape.ts'
import type { AlertMessage, AlertSetting } from '../api/alerts.ts'
import { type AlertCode, type AlertInput, type Found, figures, ruleList } from './alert-rules.ts'

/** While it is so, it is told again after so long. */
const againMs = 4 * 3_600_000
/** Of one rule at a time: a client can make up any number of names, and each would be a message. */
const mostOfRule = 10
const longestName = 120

/** Something that a rule has found, from the first look to its end. Instants in milliseconds since the Unix epoch. */
export type AlertState = MessageOf<typeof isAlertState>

export const isAlertState = record({
  rule: isText,
  subject: nullable(isText),
  text: isText,
  level: isNumber,
  sinceMs: isNumber,
  /** When it was last found. */
  seenMs: isNumber,
  /** Of the last message; null as long as there was none, because it was not so for long enough. */
  toldMs: nullable(isNumber),
  toldLevel: isNumber,
  /** Whether there was a webhook then. */
  isSent: isFlag,
})

/** A message that is due. */
export interface DueMessage {
  readonly kind: Exclude<AlertMessage['kind'], 'test'>
  readonly state: AlertState
  readonly text: string
}

/** What the rules need at one look. */
export interface Look {
  readonly nowMs: number
  readonly input: AlertInput
  readonly settingOf: (code: AlertCode) => AlertSetting
  /** Whether there is a webhook. What began without one is told once there is. */
  readonly canSend: boolean
}

/** Goes from what was so at the last look to what is so now, with the messages that this makes due. */
export function nextStates(
  before: readonly AlertState[],
  look: Look,
): { readonly states: readonly AlertState[]; readonly due: readonly DueMessage[] } {
  const states: AlertState[] = []
  const due: DueMessage[] = []
  const known = new Set<string>(ruleList.map(([code]) => code))
  const end = (state: AlertState, text: string): void => {
    if (state.toldMs !== null) due.push({ kind: 'ended', state, text })
  }
  for (const state of before) if (!known.has(state.rule)) end(state, 'This version has no such rule.')
  for (const [code, rule] of ruleList) {
    const open = before.filter((state) => state.rule === code)
    const { on, threshold } = look.settingOf(code)
    if (!on) {
      for (const state of open) end(state, 'The rule was switched off.')
      continue
    }
    const found = rule.find(look.input, threshold)
    if (found === null) {
      states.push(...open)
      continue
    }
    const waitMs = rule.isDelay === true ? threshold * 1000 : 0
    const now = new Map(found.map((each) => [subjectOf(each), each]))
    for (const state of open) {
      if (now.has(state.subject)) continue
      // Clocks are set back: what was seen in the future was seen now.
      const isOver = state.toldMs === null || Math.abs(look.nowMs - state.seenMs) >= rule.quietMs
      if (!isOver) states.push(state)
      else
        end(state, `It lasted ${figures.longDuration(Math.max(1, (state.seenMs - state.sinceMs) / 1000))}.`)
    }
    let count = states.filter((state) => state.rule === code).length
    count += open.filter(({ subject }) => now.has(subject)).length
    for (const [subject, each] of now) {
      const last = open.find((state) => state.subject === subject) ?? null
      if (last === null && ++count > mostOfRule) continue
      const state = seen(code, subject, each, last, look.nowMs)
      const kind = dueKind(state, waitMs, look)
      if (kind === null) states.push(state)
      else {
        const told = {
          ...state,
          toldMs: look.nowMs,
          toldLevel: state.level,
          isSent: look.canSend,
        }
        states.push(told)
        due.push({ kind, state: told, text: state.text })
      }
    }
  }
  return { states, due }
}

function seen(
  rule: AlertCode,
  subject: string | null,
  { text, level = 0 }: Found,
  last: AlertState | null,
  nowMs: number,
): AlertState {
  const fresh = { rule, subject, sinceMs: nowMs, toldMs: null, toldLevel: 0, isSent: false } as const
  return { ...fresh, ...last, text, level, seenMs: nowMs }
}

function dueKind(
  { sinceMs, toldMs, toldLevel, level, isSent }: AlertState,
  waitMs: number,
  { nowMs, canSend }: Look,
): 'begins' | 'goes_on' | null {
  if (toldMs === null) return Math.abs(nowMs - sinceMs) >= waitMs ? 'begins' : null
  if (level > toldLevel || (canSend && !isSent)) return 'begins'
  return Math.abs(nowMs - toldMs) >= againMs ? 'goes_on' : null
}

/** Control characters and bidirectional marks would let a name pass for other words. */
function subjectOf({ subject }: Found): string | null {
  if (subject === undefined) return null
  const plain = subject.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
  return plain.length > longestName ? `${plain.slice(0, longestName)}…` : plain
}
