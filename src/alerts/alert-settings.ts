import type { AlertSetting } from '../api/alerts.ts'
import { CheckedFile } from '../options/checked-file.ts'
import * as json from '../options/json-check.ts'
import { type AlertCode, type AlertRule, alertRules, ruleList } from './alert-rules.ts'

/** By the codes of the rules; what is absent is as usual. */
export type AlertSettings = Readonly<Partial<Record<AlertCode, Partial<AlertSetting>>>>

type Checks = { readonly [Code in AlertCode]: json.JsonCheck<Partial<AlertSetting> | undefined> }

/** What a person may write: in `alerts.json`, or as the body of a change. */
function check(remarks: boolean): json.JsonCheck<AlertSettings> {
  const rules = ruleList.map(
    ([
      code,
      {
        threshold: { min, max, unit },
      },
    ]) => {
      const threshold = json.only(
        `a number from ${min} to ${max} (${unit})`,
        (value): value is number => typeof value === 'number' && value >= min && value <= max,
      )
      const setting = json.object<Partial<AlertSetting>>(
        { on: json.optional(json.flag), threshold: json.optional(threshold) },
        { remarks },
      )
      return [code, json.optional(setting)] as const
    },
  )
  return json.object<AlertSettings>(Object.fromEntries(rules) as Checks, { remarks })
}

const inFile = check(true)
export const alertChange: json.JsonCheck<AlertSettings> = check(false)

/** The file of the rules' settings. Anybody may edit it: while it is broken, the last that could be read go on. */
export class AlertSettingsFile extends CheckedFile<AlertSettings> {
  constructor(path: string) {
    super(path, { topic: 'alerts', check: inFile, empty: {} })
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
