import { Command, CommanderError, Option } from 'commander'
import type { OptionKind } from './option-kind.ts'

/** One option of a command: parsing, `--help` and `docs/options.md` all go by this. */
export interface OptionSpec<T> {
  /** Without the dashes. */
  readonly name: string
  readonly kind: OptionKind<T>
  readonly default: T
  /** Environment variables that set it where the flag does not, the first one that is set counts. */
  readonly env: readonly string[]
  /** One line, without range and default. */
  readonly description: string
}

/** A command's options, under the names by which the program knows their values. */
export type OptionTable<V> = { readonly [K in keyof V]: OptionSpec<V[K]> }

/** Where a value comes from. */
export type OptionSource = 'flag' | 'environment' | 'default'

export type Environment = Readonly<Record<string, string | undefined>>

/** A command's values, and where each comes from. */
export type Options<V> = Readonly<V> & { readonly sources: Readonly<Record<keyof V, OptionSource>> }

/** A wrong option or value, in one line fit for the person who wrote it. */
export class OptionError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'OptionError'
  }
}

/** The variable that sets an option: `TOKENWEIR_MAX_CONCURRENT` for `--max-concurrent`. */
export function envName(name: string): string {
  return `TOKENWEIR_${name.toUpperCase().replaceAll('-', '_')}`
}

/** A command that takes the table's options; to be given an action, or only asked for its help. */
export function commandOf<V>(name: string, description: string, table: OptionTable<V>): Command {
  const command = new Command(name).description(description).exitOverride()
  let takesEnvironment = false
  for (const spec of specsOf(table)) {
    command.addOption(commanderOption(spec))
    takesEnvironment ||= spec.env.length > 0
  }
  if (takesEnvironment) {
    const example = specsOf(table).find((spec) => spec.env.length > 0)?.env[0] ?? ''
    command.addHelpText(
      'after',
      `\nOptions can come from the environment too, such as ${example}; flags win.`,
    )
  }
  return command
}

/** Reads flags, then environment, then defaults. An empty variable counts as unset. Throws {@link OptionError}. */
export function parseOptions<V>(
  table: OptionTable<V>,
  argv: readonly string[],
  env: Environment,
): Options<V> {
  const mentions = mentionsOf(table, argv)
  const values: Partial<V> = {}
  const sources: Partial<Record<keyof V, OptionSource>> = {}
  for (const key in table) {
    const spec = table[key]
    const flag = mentions.get(spec.name)
    const variable = spec.env.find((name) => (env[name] ?? '') !== '')
    if (flag !== undefined) {
      values[key] = valueOf(spec, `--${spec.name}`, flag)
      sources[key] = 'flag'
    } else if (variable !== undefined) {
      values[key] = valueOf(spec, `${variable} (--${spec.name})`, [env[variable] ?? ''])
      sources[key] = 'environment'
    } else {
      values[key] = spec.default
      sources[key] = 'default'
    }
  }
  // The loop has visited every key of the table, which are the keys of V.
  return { ...(values as V), sources: sources as Record<keyof V, OptionSource> }
}

function specsOf<V>(table: OptionTable<V>): readonly OptionSpec<V[keyof V]>[] {
  return Object.values(table)
}

function commanderOption<T>(spec: OptionSpec<T>): Option {
  const { placeholder } = spec.kind
  const flags = placeholder === null ? `--${spec.name}` : `--${spec.name} ${placeholder}`
  const shown = spec.kind.show(spec.default)
  const isSilent = shown === 'off' && placeholder === null
  const option = new Option(flags, isSilent ? spec.description : `${spec.description} (default: ${shown})`)
  if (placeholder === null) return option
  return option.argParser((text: string, earlier: readonly string[] | undefined) => [
    ...(earlier ?? []),
    text,
  ])
}

/** What was written behind each flag, mention by mention. */
function mentionsOf<V>(
  table: OptionTable<V>,
  argv: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const command = new Command()
    .exitOverride()
    .helpOption(false)
    .configureOutput({ outputError: () => {} })
  const options = specsOf(table).map((spec) => ({ name: spec.name, option: commanderOption(spec) }))
  for (const { option } of options) command.addOption(option)
  try {
    command.parse(argv, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    throw new OptionError(oneLine(error.message))
  }
  const mentions = new Map<string, readonly string[]>()
  for (const { name, option } of options) {
    const value: unknown = command.getOptionValue(option.attributeName())
    if (Array.isArray(value)) mentions.set(name, value.map(String))
    else if (value === true) mentions.set(name, ['true'])
  }
  return mentions
}

function valueOf<T>(spec: OptionSpec<T>, name: string, mentions: readonly string[]): T {
  let value: T | undefined
  for (const text of mentions) {
    value = spec.kind.parse(text, value)
    if (value === undefined) throw new OptionError(`${name} must be ${spec.kind.range}; got ${quoted(text)}`)
  }
  return value ?? spec.default
}

/** What was got, short and without the credentials that a URL may hold. */
function quoted(text: string): string {
  const safe = text.replace(/\/\/[^/]*@/, '//…@')
  return JSON.stringify(safe.length > 100 ? `${safe.slice(0, 100)}…` : safe)
}

/** Commander's words, less its prefix and its line breaks. */
export function oneLine(message: string): string {
  return message
    .replace(/^error: /, '')
    .replace(/\s*\n\s*/g, ' ')
    .trim()
}
