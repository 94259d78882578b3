import * as v from 'valibot'
import { cutText } from '../lib/cut-text.ts'
import { longDuration } from '../lib/number-format.ts'
import { type MessageOf, finite } from '../lib/message-schema.ts'
import type { ActiveAlert, AlertMessage, AlertSetting } from '../api/alerts.ts'
import { type AlertCode, type AlertInput, type FoundAlert, ruleList, titleOf } from './alert-rules.ts'

/** An alert that stays active is sent again after this time. */
const againMs = 4 * 3_600_000
/** Most subjects of one rule. Clients choose their names, so more names could send any number of messages. */
const mostOfRule = 10
/** Most characters of a name in an alert. */
const longestName = 120

/** An alert from the first check that found it to its end. Instants are in ms since the Unix epoch. */
export type AlertState = MessageOf<typeof alertState>

export const alertState = v.object({
  rule: v.string(),
  subject: v.nullable(v.string()),
  text: v.string(),
  sinceMs: finite,
  /** The last check that found the condition. */
  seenMs: finite,
  /** When the last message was sent; null if none was, because the problem was too short. */
  toldMs: v.nullable(finite),
  toldLevel: finite,
  /** True if there was a webhook for the last message. */
  isSent: v.boolean(),
})

/** The alert as the API shows it. */
export function alertOf({ rule, subject, text, sinceMs }: AlertState): ActiveAlert {
  return { rule, title: titleOf(rule), subject, text, since: new Date(sinceMs).toISOString() }
}

/** A message that must be sent now. */
export interface DueMessage {
  readonly kind: Exclude<AlertMessage['kind'], 'test'>
  /** The state, with the text of the message. */
  readonly state: AlertState
}

/** The input of one check of the rules. */
export interface AlertInputs {
  readonly nowMs: number
  readonly input: AlertInput
  readonly settingOf: (code: AlertCode) => AlertSetting
  /** True if there is a webhook. Alerts that began without one are sent once there is. */
  readonly canSend: boolean
}

/** Returns the states after this check, from those of the last one, and the messages that are due. */
export function nextStates(
  before: readonly AlertState[],
  look: AlertInputs,
): { readonly states: readonly AlertState[]; readonly dueMessages: readonly DueMessage[] } {
  const states: AlertState[] = []
  const dueMessages: DueMessage[] = []
  const { nowMs, canSend } = look
  const end = (state: AlertState, text: string): void => {
    if (state.toldMs !== null) dueMessages.push({ kind: 'ended', state: { ...state, text } })
  }
  for (const state of before) {
    if (!ruleList.some(([code]) => code === state.rule)) end(state, 'This version has no such rule.')
  }
  for (const [code, rule] of ruleList) {
    const open = before.filter((state) => state.rule === code)
    const { on, threshold } = look.settingOf(code)
    if (!on) {
      for (const state of open) end(state, 'The rule was switched off.')
      continue
    }
    const problems = rule.find(look.input, threshold)
    if (problems === null) {
      states.push(...open)
      continue
    }
    const waitMs = rule.isDelay === true ? threshold * 1000 : 0
    const now = new Map(problems.map((problem) => [subjectOf(problem), problem]))
    let room = mostOfRule
    for (const state of open) {
      // A clock may have been set back, so a future time counts as now.
      const isOver = state.toldMs === null || Math.abs(nowMs - state.seenMs) >= rule.quietMs
      if (now.has(state.subject)) room -= 1
      else if (isOver)
        end(state, `It lasted ${longDuration(Math.max(1, (state.seenMs - state.sinceMs) / 1000))}.`)
      else {
        states.push(state)
        room -= 1
      }
    }
    for (const [subject, { text, level = 0 }] of now) {
      const last = open.find((state) => state.subject === subject)
      if (last === undefined && --room < 0) continue
      const fresh = { rule: code, subject, sinceMs: nowMs, toldMs: null, toldLevel: 0, isSent: false }
      const state = { ...fresh, ...last, text, seenMs: nowMs }
      const kind = dueKind(state, level, waitMs, look)
      const next = kind === null ? state : { ...state, toldMs: nowMs, toldLevel: level, isSent: canSend }
      states.push(next)
      if (kind !== null) dueMessages.push({ kind, state: next })
    }
  }
  return { states, dueMessages }
}

function dueKind(
  { sinceMs, toldMs, toldLevel, isSent }: AlertState,
  level: number,
  waitMs: number,
  { nowMs, canSend }: AlertInputs,
): 'begins' | 'goes_on' | null {
  if (toldMs === null) return Math.abs(nowMs - sinceMs) >= waitMs ? 'begins' : null
  if (level > toldLevel || (canSend && !isSent)) return 'begins'
  return Math.abs(nowMs - toldMs) >= againMs ? 'goes_on' : null
}

/** Control characters and bidirectional marks would let a name pass for other words. */
function subjectOf({ subject }: FoundAlert): string | null {
  if (subject === undefined) return null
  const plain = subject.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
  return plain.length > longestName ? `${cutText(plain, longestName)}…` : plain
}
