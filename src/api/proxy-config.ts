import * as v from 'valibot'
import type { Infer } from '../call/infer.ts'

export const SettingValue = v.union([v.number(), v.string(), v.boolean()])

export type SettingValue = Infer<typeof SettingValue>

/** An option of the gateway: its value for the next start, and the running gateway's. */
export const ConfigOption = v.object({
  /** `max_concurrent` for `--max-concurrent`. */
  name: v.string(),
  description: v.string(),
  /** The kind of its value. */
  kind: v.picklist(['number', 'switch', 'choice', 'text', 'list']),
  /** The unit of a number; null if the name has it. */
  unit: v.nullable(v.picklist(['ms', 's', 'days', 'kB', 'MB', 'calls', 'tokens'])),
  /** Bounds of a number, both included; null for other kinds. */
  min: v.nullable(v.number()),
  max: v.nullable(v.number()),
  /** The words of a choice; null for other kinds. */
  choices: v.nullable(v.array(v.string())),
  /** The allowed values, for people: completes "… must be". */
  range: v.string(),
  /** The value of the next start. */
  value: v.union([SettingValue, v.array(v.string())]),
  default: v.union([SettingValue, v.array(v.string())]),
  /** `saved`: in `gateway.json`. */
  source: v.picklist(['flag', 'environment', 'saved', 'default']),
  /** The flag or variable that sets the value, which then cannot be changed here; null without one. */
  fixed_by: v.nullable(v.string()),
  /** How a change on the dashboard takes effect; null if the dashboard cannot change the option. */
  changes: v.nullable(v.picklist(['live', 'restart'])),
  /** The running gateway's value; null while none runs. */
  running: v.nullable(v.union([SettingValue, v.array(v.string())])),
})

export type ConfigOption = Infer<typeof ConfigOption>

/** The body of `GET` and `PUT /api/proxy/config`. */
export const ProxyConfig = v.object({
  options: v.array(ConfigOption),
  /** Names of options whose value differs in the running gateway. A restart applies them. */
  needs_restart: v.array(v.string()),
  /** The path of the file with changes. */
  file: v.string(),
  /**
   * State of `UPSTREAM_API_KEY`.
   * - `absent`: not set.
   * - `lent`: used for calls from this machine.
   * - `withheld`: not used, because the upstream's address was set on the dashboard and not at its start.
   */
  upstream_key: v.picklist(['absent', 'lent', 'withheld']),
})

export type ProxyConfig = Infer<typeof ProxyConfig>
