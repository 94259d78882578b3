import type { OptionKind } from './option-kind.ts'

/** One option of a command: parsing, `--help`, the dashboard's settings and `docs/options.md` go by this. */
export interface OptionSpec<T> {
  /** Without the dashes. */
  readonly name: string
  readonly kind: OptionKind<T>
  readonly default: T
  /** Environment variables that set it where the flag does not, the first one that is set counts. */
  readonly env: readonly string[]
  /** One line, without range and default. */
  readonly description: string
  /** How a change made on the dashboard takes effect; absent where it cannot be changed there. */
  readonly changes?: 'live' | 'restart'
}

/** A command's options, under the names by which the program knows their values. */
export type OptionTable<V> = { readonly [K in keyof V]: OptionSpec<V[K]> }

/** Where a value comes from. */
export type OptionSource = 'flag' | 'environment' | 'default'

/** A command's values, where each comes from, and what set it: the flag or the variable, by name. */
export type Options<V> = Readonly<V> & {
  readonly sources: Readonly<Record<keyof V, OptionSource>>
  readonly setBy: Readonly<Record<keyof V, string | null>>
}

/** The variable that sets an option: `TOKENWEIR_MAX_CONCURRENT` for `--max-concurrent`. */
export function envName(name: string): string {
  return `TOKENWEIR_${name.toUpperCase().replaceAll('-', '_')}`
}

/** The table's options one by one. */
export function specsOf<V>(table: OptionTable<V>): readonly OptionSpec<V[keyof V]>[] {
  return Object.values(table)
}

/** The arguments that give a command exactly these values, each of them, whatever its environment says. */
export function argumentsOf<V>(table: OptionTable<V>, values: Readonly<V>): readonly string[] {
  const args: string[] = []
  for (const key in table) {
    const { name, kind } = table[key]
    const value = values[key]
    const mentions: readonly unknown[] = Array.isArray(value) ? value : [kind.show(value)]
    for (const mention of mentions) args.push(`--${name}=${String(mention)}`)
  }
  return args
}
