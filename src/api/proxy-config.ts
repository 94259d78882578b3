export type SettingValue = number | string | boolean

/** One option of the gateway, as the dashboard would start it and as it runs. */
export interface ConfigOption {
  /** `max_concurrent` for `--max-concurrent`. */
  readonly name: string
  readonly description: string
  /** The kind of its value. */
  readonly kind: 'number' | 'switch' | 'choice' | 'text' | 'list'
  /** What a number counts; null where its name says it. */
  readonly unit: 'ms' | 's' | 'days' | 'kB' | 'MB' | 'calls' | 'tokens' | null
  /** The bounds of a number, both included; null where it is none. */
  readonly min: number | null
  readonly max: number | null
  /** The words of a choice; null where it is none. */
  readonly choices: readonly string[] | null
  /** Completes "… must be", for people. */
  readonly range: string
  /** What the gateway starts with next. */
  readonly value: SettingValue | readonly string[]
  readonly default: SettingValue | readonly string[]
  /** `saved`: in `gateway.json`. */
  readonly source: 'flag' | 'environment' | 'saved' | 'default'
  /** The flag or variable that fixes it, so that it cannot be changed here. */
  readonly fixed_by: string | null
  /** How a change made here takes effect; null where none can be made here. */
  readonly changes: 'live' | 'restart' | null
  /** What the running gateway goes by; null while none runs. */
  readonly running: SettingValue | readonly string[] | null
}

/** The body of `GET` and `PUT /api/proxy/config`. */
export interface ProxyConfig {
  readonly options: readonly ConfigOption[]
  /** Names of the options of which the running gateway has another value: a restart brings them in. */
  readonly needs_restart: readonly string[]
  /** Where changes are kept. */
  readonly file: string
  /**
   * `UPSTREAM_API_KEY`: not set; lent to calls from this machine; or withheld, because the upstream's address
   * was set on the dashboard and not by who started it.
   */
  readonly upstream_key: 'absent' | 'lent' | 'withheld'
}
