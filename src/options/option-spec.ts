import type { ConfigOption } from '../api/proxy-config.ts'
import type { ValueKind } from './value-kind.ts'

/** How a change made on the dashboard takes effect. */
export type OptionChange = 'live' | 'restart'

/** An option of a command. Parsing, `--help`, the dashboard's settings and `docs/options.md` use this. */
export interface OptionSpec<T> {
  /** The name without dashes. */
  readonly name: string
  readonly kind: ValueKind<T & {}>
  readonly default: T
  /** Environment variables that set the option without a flag. The first one that is set counts. */
  readonly env: readonly string[]
  /** The description: a single line, without range and default. */
  readonly description: string
  /** How a change on the dashboard takes effect; absent if the dashboard cannot change the option. */
  readonly changes?: OptionChange
}

/** A command's options, by the names of their values in the program. */
export type OptionTable<V> = { readonly [K in keyof V]: OptionSpec<V[K]> }

/** A row of a table of options. By default, name and variable follow from the key. */
export type OptionRow<T> = Omit<OptionSpec<T>, 'name' | 'env'> & Partial<OptionSpec<T>>

/** Makes a row of a table of options. */
export function row<T>(
  kind: ValueKind<T & {}>,
  fallback: T,
  description: string,
  more: Partial<OptionSpec<T>> = {},
): OptionRow<T> {
  return { ...more, kind, default: fallback, description }
}

/** The facts that a form needs for an option's field. */
type ValueFacts = Pick<ConfigOption, 'kind' | 'unit' | 'min' | 'max' | 'choices' | 'range'>

/** The values that an option allows. */
export function valueFacts<T>({ kind, default: usual }: OptionSpec<T>): ValueFacts {
  const { number, choices = null, range } = kind
  const { unit = null, min = null, max = null } = number ?? {}
  const word = Array.isArray(usual) ? 'list' : typeof usual === 'boolean' ? 'switch' : 'text'
  return {
    kind: number !== undefined ? 'number' : choices !== null ? 'choice' : word,
    unit,
    min,
    max,
    choices,
    range,
  }
}

/** A command's values, and the flag (`--db`) or variable (`TOKENWEIR_DB`) that set each; null for a default. */
export type Options<V> = Readonly<V> & {
  readonly setBy: Readonly<Record<keyof V, string | null>>
}

/** The values of a table's options. */
export type ValuesOf<Table> = Table extends OptionTable<infer V> ? V : never

/** The values of a table's options, with the source of each. */
export type OptionsOf<Table> = Options<ValuesOf<Table>>

/**
 * Completes rows with the names of flags and variables: `--max-concurrent` and `TOKENWEIR_MAX_CONCURRENT` for
 * the key `maxConcurrent`.
 */
export function optionTable<V>(rows: { readonly [K in keyof V]: OptionRow<V[K]> }): OptionTable<V> {
  const table: Partial<OptionTable<V>> = {}
  for (const key in rows) {
    const name = rows[key].name ?? key.replaceAll(/[A-Z]|\d+/g, (part) => `-${part.toLowerCase()}`)
    table[key] = { ...rows[key], name, env: rows[key].env ?? [envName(name)] }
  }
  return table as OptionTable<V>
}

/**
 * Returns the source of a value by the name of the flag or variable that set it. Only names of variables begin with
 * a capital.
 */
export function sourceOf(setBy: string | null): 'flag' | 'environment' | 'default' {
  if (setBy === null) return 'default'
  return /^[A-Z]/.test(setBy) ? 'environment' : 'flag'
}

/** The variable that sets an option: `TOKENWEIR_MAX_CONCURRENT` for `--max-concurrent`. */
export function envName(name: string): string {
  return `TOKENWEIR_${name.toUpperCase().replaceAll('-', '_')}`
}

/** The option's name in JSON: `max_concurrent` for `--max-concurrent`. */
export function settingName(name: string): string {
  return name.replaceAll('-', '_')
}

/** The given options by setting name, in which null replaces `none`. Options without a value are left out. */
export function givenSettings<V, K extends keyof V>(
  table: OptionTable<V>,
  options: Readonly<V>,
  keys: readonly K[],
): { readonly [name: string]: Exclude<V[K], null | 'none'> | null } {
  const setKeys = keys.filter((key) => options[key] !== null)
  return Object.fromEntries(
    setKeys.map((key) => [
      settingName(table[key].name),
      options[key] === 'none' ? null : (options[key] as Exclude<V[K], null | 'none'>),
    ]),
  )
}

/** The options of a table as a list. */
export function specsOf<V>(table: OptionTable<V>): readonly OptionSpec<V[keyof V]>[] {
  return Object.values(table)
}

/** A value as text, as after its flag and in `--help`. */
export function shownValue(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  const texts: readonly unknown[] = Array.isArray(value) ? value : value === null ? [] : [value]
  return texts.length === 0 ? 'none' : texts.join(', ')
}

/** A default as `--help` and docs show it; null if there is nothing to show. */
export function shownDefault(value: unknown): string | null {
  return value === null || (Array.isArray(value) && value.length === 0) ? null : shownValue(value)
}

/** Arguments that give a command exactly these values, whatever its environment. */
export function argumentsOf<V>(table: OptionTable<V>, values: Readonly<V>): readonly string[] {
  const args: string[] = []
  for (const key in table) {
    const value = values[key]
    const mentions: readonly unknown[] = Array.isArray(value) ? value : [value]
    for (const mention of mentions) args.push(`--${table[key].name}=${shownValue(mention)}`)
  }
  return args
}
