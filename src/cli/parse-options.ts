import { Command, CommanderError, Option } from 'commander'
import {
  type Options,
  type OptionSource,
  type OptionSpec,
  type OptionTable,
  shownValue,
  specsOf,
} from '../options/option-spec.ts'
import type { ValueKind } from '../options/value-kind.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** A wrong option or value, in one line fit for the person who wrote it. */
export class OptionError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'OptionError'
  }
}

/** An option, as far as it is shown. */
export type ShownOption = Pick<OptionSpec<unknown>, 'name' | 'default' | 'env' | 'description'> & {
  readonly kind: Pick<ValueKind<unknown>, 'placeholder' | 'range'>
}

/** A command, as its help and `docs/options.md` show it. */
export interface CliCommand {
  /** `db compress` */
  readonly name: string
  readonly description: string
  readonly options: Readonly<Record<string, ShownOption>>
  /** What it takes beside its options: `[model]`. */
  readonly operand?: readonly [name: string, description: string]
}

/** To be asked for its help. */
export function helpOf({ name, description, options, operand }: CliCommand): Command {
  const command = new Command(name.split(' ').at(-1)).description(description).exitOverride()
  if (operand !== undefined) command.argument(...operand)
  for (const option of Object.values(options)) command.addOption(commanderOption(option))
  const [example] = Object.values(options).flatMap(({ env }) => env)
  if (example === undefined) return command
  return command.addHelpText(
    'after',
    `\nOptions can come from the environment too, such as ${example}; flags win.`,
  )
}

/** Reads flags, then environment, then defaults. An empty variable counts as unset. Throws {@link OptionError}. */
export function parseOptions<V>(
  table: OptionTable<V>,
  argv: readonly string[],
  env: Environment,
): Options<V> {
  return valuesOf(table, mentionsOf(table, argv, false).mentions, env)
}

/** The same for a command that takes names beside its options; how many, it says itself. */
export function parseWithOperands<V>(
  table: OptionTable<V>,
  argv: readonly string[],
  env: Environment,
): { readonly options: Options<V>; readonly operands: readonly string[] } {
  const { mentions, operands } = mentionsOf(table, argv, true)
  return { options: valuesOf(table, mentions, env), operands }
}

function valuesOf<V>(
  table: OptionTable<V>,
  mentions: ReadonlyMap<string, readonly string[]>,
  env: Environment,
): Options<V> {
  const values: Partial<V> = {}
  const sources: Partial<Record<keyof V, OptionSource>> = {}
  const setBy: Partial<Record<keyof V, string | null>> = {}
  for (const key in table) {
    const spec = table[key]
    const flag = mentions.get(spec.name)
    const variable = spec.env.find((name) => (env[name] ?? '') !== '')
    if (flag !== undefined) {
      values[key] = valueOf(spec, `--${spec.name}`, flag)
      sources[key] = 'flag'
      setBy[key] = `--${spec.name}`
    } else if (variable !== undefined) {
      values[key] = valueOf(spec, `${variable} (--${spec.name})`, [env[variable] ?? ''])
      sources[key] = 'environment'
      setBy[key] = variable
    } else {
      values[key] = spec.default
      sources[key] = 'default'
      setBy[key] = null
    }
  }
  // The loop has visited every key of the table, which are the keys of V.
  return {
    ...(values as V),
    sources: sources as Record<keyof V, OptionSource>,
    setBy: setBy as Record<keyof V, string | null>,
  }
}

function commanderOption(spec: ShownOption): Option {
  const { placeholder } = spec.kind
  const flags = placeholder === null ? `--${spec.name}` : `--${spec.name} ${placeholder}`
  const shown = shownValue(spec.default)
  const isSilent = shown === 'off' && placeholder === null
  const option = new Option(flags, isSilent ? spec.description : `${spec.description} (default: ${shown})`)
  if (placeholder === null) return option
  // Of a flag that may stand alone the earlier mention can be a mere `true`.
  return option.argParser((text: string, earlier: readonly string[] | true | undefined) => [
    ...(Array.isArray(earlier) ? earlier : []),
    text,
  ])
}

/** What was written behind each flag, mention by mention, and what belongs to none. */
function mentionsOf<V>(
  table: OptionTable<V>,
  argv: readonly string[],
  takesOperands: boolean,
): {
  readonly mentions: ReadonlyMap<string, readonly string[]>
  readonly operands: readonly string[]
} {
  const command = new Command()
    .exitOverride()
    .helpOption(false)
    .configureOutput({ outputError: () => {} })
    .allowExcessArguments(takesOperands)
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
  return { mentions, operands: command.args }
}

function valueOf<T>(spec: OptionSpec<T>, name: string, mentions: readonly string[]): T {
  let value: Exclude<T, null> | undefined
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
