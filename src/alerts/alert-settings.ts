import * as v from 'valibot'
import type { AlertSetting } from '../api/alerts.ts'
import { count } from '../lib/number-format.ts'
import { ValidatedJsonFile } from '../options/validated-json-file.ts'
import { type AlertFormat, alertFormats } from '../options/dashboard-options.ts'
import { type Schema, object, objectWithRemarks, within } from '../options/schema.ts'
import { webhookUrl } from '../options/value-kind.ts'
import { type AlertCode, type AlertRule, alertRules, ruleList } from './alert-rules.ts'

/** The receiver of messages. The whole address may be a secret. */
export interface AlertWebhook {
  readonly url: string
  readonly format: AlertFormat
}

/** Settings by rule code; absent ones have their defaults. */
type RuleSettings = Readonly<Partial<Record<AlertCode, Partial<AlertSetting>>>>

export type AlertSettings = RuleSettings & { readonly webhook?: AlertWebhook }

/** Absent members stay as they are; null removes the webhook. */
export type AlertChange = RuleSettings & { readonly webhook?: Partial<AlertWebhook> | null }

/** The message does not repeat the value, which may be a secret. */
const urlText = `must be ${webhookUrl.range}`
const url = v.pipe(
  v.string(urlText),
  v.check((text) => webhookUrl.parse(text) !== undefined, urlText),
  v.description(webhookUrl.range),
)
const format = v.picklist(alertFormats)

/** The schema of the settings: a member for each rule (on or off, threshold), and the webhook. */
function settingsOf<T>(setting: (entries: v.ObjectEntries) => Schema<object>, webhook: Schema): Schema<T> {
  const rules = ruleList.map(([code, { threshold: bounds }]) => {
    const { min, max, unit } = bounds
    const threshold = v.optional(within(min, max, `a number from ${min} to ${count(max)} (${unit})`))
    return [code, v.optional(setting({ on: v.optional(v.boolean()), threshold }))] as const
  })
  return setting({ ...Object.fromEntries(rules), webhook: v.optional(webhook) }) as Schema<T>
}

const inFile = settingsOf<AlertSettings>(objectWithRemarks, objectWithRemarks({ url, format }))
const changedWebhook = v.nullable(object({ url: v.optional(url), format: v.optional(format) }))
/** The body of a change. */
export const alertChange = settingsOf<AlertChange>(object, changedWebhook)

/** The file of settings, which people may edit. While it is broken, the last valid settings stay in force. */
export class AlertSettingsFile extends ValidatedJsonFile<AlertSettings> {
  constructor(path: string) {
    super(path, {
      topic: 'alerts',
      schema: inFile,
      empty: {},
      invalid: { code: 'invalid_body', paramOf: ([name]) => String(name) },
    })
  }

  of(code: AlertCode): AlertSetting {
    const { isOptional, threshold }: AlertRule = alertRules[code]
    return { on: isOptional !== true, threshold: threshold.usual, ...this.content[code] }
  }

  /** Rejects with `JsonFileError`. */
  change({ webhook: changedWebhook, ...rules }: AlertChange): Promise<void> {
    return this.update(({ webhook: saved, ...settings }) => {
      const changed = Object.entries(rules).map(([code, setting]) => [
        code,
        { ...settings[code as AlertCode], ...setting },
      ])
      const webhook = changedWebhook === null ? undefined : { ...saved, ...changedWebhook }
      const isNone = webhook === undefined || Object.keys(webhook).length === 0
      const next = { ...settings, ...(Object.fromEntries(changed) as RuleSettings) }
      return isNone ? next : { ...next, webhook: { format: 'json', ...webhook } as AlertWebhook }
    })
  }
}
