import * as v from 'valibot'
import type { AlertSetting } from '../api/alerts.ts'
import { CheckedFile } from '../options/checked-file.ts'
import { type Schema, object, objectWithRemarks, within } from '../options/schema.ts'
import { type AlertCode, type AlertRule, alertRules, ruleList } from './alert-rules.ts'

/** By the codes of the rules; what is absent is as usual. */
export type AlertSettings = Readonly<Partial<Record<AlertCode, Partial<AlertSetting>>>>

/** A member for each rule, which says whether it is on, and its threshold. */
function rulesOf(setting: (entries: v.ObjectEntries) => Schema<object>): Schema<AlertSettings> {
  const rules = ruleList.map(([code, { threshold: bounds }]) => {
    const { min, max, unit } = bounds
    const threshold = v.optional(within(min, max, `a number from ${min} to ${max} (${unit})`))
    return [code, v.optional(setting({ on: v.optional(v.boolean()), threshold }))] as const
  })
  return setting(Object.fromEntries(rules))
}

const inFile = rulesOf(objectWithRemarks)
/** The body of a change. */
export const alertChange: Schema<AlertSettings> = rulesOf(object)

/** The file of the rules' settings. Anybody may edit it: while it is broken, the last that could be read go on. */
export class AlertSettingsFile extends CheckedFile<AlertSettings> {
  constructor(path: string) {
    super(path, { topic: 'alerts', schema: inFile, empty: {} })
  }

  of(code: AlertCode): AlertSetting {
    const { isOptional, threshold }: AlertRule = alertRules[code]
    return { on: isOptional !== true, threshold: threshold.usual, ...this.content[code] }
  }

  /** Rejects with `CheckedFileError`. */
  change(change: AlertSettings): Promise<void> {
    return this.update((settings) => {
      const changed = Object.entries(change).map(([code, setting]) => [
        code,
        { ...settings[code as AlertCode], ...setting },
      ])
      return { ...settings, ...(Object.fromEntries(changed) as AlertSettings) }
    })
  }
}
