import * as v from 'valibot'
import type { Infer } from '../call/infer.ts'

/** The settings of a rule. */
export const AlertSetting = v.object({
  on: v.boolean(),
  /** In the rule's unit. */
  threshold: v.number(),
})

export type AlertSetting = Infer<typeof AlertSetting>

/** A rule and its setting. */
export const AlertRuleReport = v.object({
  ...AlertSetting.entries,
  code: v.string(),
  title: v.string(),
  /** The condition in which an alert begins: a sentence with the threshold in it. */
  asks: v.string(),
  unit: v.string(),
  min: v.number(),
  max: v.number(),
  /** The default threshold. */
  usual: v.number(),
})

export type AlertRuleReport = Infer<typeof AlertRuleReport>

/** An alert that is active now. */
export const ActiveAlert = v.object({
  rule: v.string(),
  title: v.string(),
  /** The model, client or session; null if the alert is about all calls. */
  subject: v.nullable(v.string()),
  text: v.string(),
  /** When the condition began: ISO 8601, UTC. */
  since: v.string(),
})

export type ActiveAlert = Infer<typeof ActiveAlert>

/** A message that was sent, or would have been. */
export const AlertMessage = v.object({
  ...ActiveAlert.entries,
  id: v.string(),
  /** ISO 8601, UTC. */
  at: v.string(),
  kind: v.picklist(['begins', 'goes_on', 'ended', 'test']),
  /** The state of the message: `unsent` if there is no webhook. */
  state: v.picklist(['pending', 'delivered', 'failed', 'unsent']),
  /** The receiver's answer; null until then. */
  detail: v.nullable(v.string()),
})

export type AlertMessage = Infer<typeof AlertMessage>

/** The body of `GET /api/alerts`. */
export const AlertsReport = v.object({
  rules: v.array(AlertRuleReport),
  active: v.array(ActiveAlert),
  /** The last messages, newest first. */
  messages: v.array(AlertMessage),
  /** The receiver's host; the rest of the address may be a secret. Null without a webhook. */
  receiver: v.nullable(
    v.object({
      host: v.string(),
      format: v.string(),
      signed: v.boolean(),
      /** The flag or variable that sets the address; null where it can be changed here. */
      fixed_by: v.nullable(v.string()),
    }),
  ),
  /** The path of the settings. */
  file: v.string(),
  /** The error in that file, while the last valid settings stay in force; null if the file is valid. */
  problem: v.nullable(v.string()),
  /** Messages that wait to be sent, at most 100. */
  pending: v.number(),
  /** Messages that were dropped because too many waited. */
  dropped: v.number(),
  /** When the rules were last checked; null if never. */
  looked_at: v.nullable(v.string()),
})

export type AlertsReport = Infer<typeof AlertsReport>

/** The body of `POST /api/alerts/test`. */
export const AlertTest = v.object({
  delivered: v.boolean(),
  detail: v.string(),
})

export type AlertTest = Infer<typeof AlertTest>
