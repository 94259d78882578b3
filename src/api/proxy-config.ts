import * as v from 'valibot'
import type { Infer } from '../call/infer.ts'

export const SettingValue = v.union([v.number(), v.string(), v.boolean()])

export type SettingValue = Infer<typeof SettingValue>

/** One option of the gateway, as the dashboard would start it and as it runs. */
export const ConfigOption = v.object({
  /** `max_concurrent` for `--max-concurrent`. */
  name: v.string(),
  description: v.string(),
  /** The kind of its value. */
  kind: v.picklist(['number', 'switch', 'choice', 'text', 'list']),
  /** The unit of a number; null if the name says it. */
  unit: v.nullable(v.picklist(['ms', 's', 'days', 'kB', 'MB', 'calls', 'tokens'])),
  /** The bounds of a number, both included; null where it is none. */
  min: v.nullable(v.number()),
  max: v.nullable(v.number()),
  /** The words of a choice; null where it is none. */
  choices: v.nullable(v.array(v.string())),
  /** Completes "… must be", for people. */
  range: v.string(),
  /** The value of the next start. */
  value: v.union([SettingValue, v.array(v.string())]),
  default: v.union([SettingValue, v.array(v.string())]),
  /** `saved`: in `gateway.json`. */
  source: v.picklist(['flag', 'environment', 'saved', 'default']),
  /** The flag or variable that fixes it, so that it cannot be changed here. */
  fixed_by: v.nullable(v.string()),
  /** How a change made here takes effect; null where none can be made here. */
  changes: v.nullable(v.picklist(['live', 'restart'])),
  /** The running gateway's value; null while none runs. */
  running: v.nullable(v.union([SettingValue, v.array(v.string())])),
})

export type ConfigOption = Infer<typeof ConfigOption>

/** The body of `GET` and `PUT /api/proxy/config`. */
export const ProxyConfig = v.object({
  options: v.array(ConfigOption),
  /** Names of the options of which the running gateway has another value: a restart brings them in. */
  needs_restart: v.array(v.string()),
  /** The path of the file with changes. */
  file: v.string(),
  /**
   * State of `UPSTREAM_API_KEY`: not set; given to calls from this machine; or withheld, because the upstream's address
   * was set on the dashboard and not at its start.
   */
  upstream_key: v.picklist(['absent', 'lent', 'withheld']),
})

export type ProxyConfig = Infer<typeof ProxyConfig>
