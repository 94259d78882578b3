import { Command, CommanderError, Option } from 'commander'
import { CommandError, exitCode } from './exit-code.ts'
import {
  type Options,
  type OptionsOf,
  type OptionSpec,
  type OptionTable,
  shownDefault,
  specsOf,
} from '../options/option-spec.ts'
import type { Terminal } from './terminal/terminal.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** A wrong option or value, in one line fit for the person who wrote it. */
export class OptionError extends CommandError {
  constructor(message: string) {
    super(message, exitCode.usage)
  }
}

/** A command, as its help and `docs/options.md` show it. */
export interface CliCommand {
  /** `db compress` */
  readonly name: string
  readonly description: string
  readonly options: Readonly<Record<string, OptionSpec<unknown>>>
  /**
   * The positional arguments, such as `[model]`, or `<file>` if required; several are separated by spaces. The description
   * belongs to the last one. The noun is used in error messages (default: the name in brackets).
   */
  readonly positional?: readonly [name: string, description: string, noun?: string] | undefined
  /** An example that a newcomer can copy. */
  readonly example: string
}

/** The arguments of a command beside its options. */
export interface CommandContext {
  /** All arguments, as they were typed. */
  readonly argv: readonly string[]
  readonly positionals: readonly string[]
  readonly env: Environment
  readonly terminal: Terminal
}

/**
 * Runs a command. Returns the exit code, or undefined if the command runs on; rejects with `CommandError`, or a
 * `CodedError`, if it fails.
 */
export type CommandRun<Table> = (
  options: OptionsOf<Table>,
  context: CommandContext,
) => Promise<number | void> | number

/** Reads flags, then environment, then defaults. An empty variable counts as unset. Throws {@link OptionError}. */
export function parseOptions<V>(
  table: OptionTable<V>,
  argv: readonly string[],
  env: Environment,
): Options<V> {
  return parseCommand({ table }, argv, env).options
}

/** Reads options as {@link parseOptions} does, and positional arguments. Throws {@link OptionError}. */
export function parseCommand<V>(
  { table, positional }: { readonly table: OptionTable<V>; readonly positional?: CliCommand['positional'] },
  argv: readonly string[],
  env: Environment,
): { readonly options: Options<V>; readonly positionals: readonly string[] } {
  const names = positional?.[0].split(' ') ?? []
  const nouns = names.map((name) => positional?.[2] ?? name.slice(1, -1))
  const command = new Command()
    .exitOverride()
    .helpOption(false)
    .configureOutput({ outputError: () => {} })
    .allowExcessArguments()
  for (const spec of specsOf(table)) command.addOption(commanderOption(spec))
  try {
    command.parse(argv, { from: 'user' })
  } catch (error) {
    throw error instanceof CommanderError ? new OptionError(oneLine(error.message)) : error
  }
  const values: Partial<V> = {}
  const setBy: Partial<Record<keyof V, string | null>> = {}
  for (const key in table) {
    const spec = table[key]
    const value = command.getOptionValue(commanderOption(spec).attributeName()) as V[typeof key] | undefined
    const variable = value === undefined ? spec.env.find((name) => (env[name] ?? '') !== '') : undefined
    setBy[key] = value !== undefined ? `--${spec.name}` : (variable ?? null)
    values[key] = value ?? spec.default
    if (variable !== undefined)
      values[key] = valueOf(spec, `${variable} (--${spec.name})`, env[variable] ?? '')
  }
  const positionals = command.args
  const extra = positionals[names.length]
  if (extra !== undefined) {
    const got = JSON.stringify(extra)
    throw new OptionError(
      names.length === 0
        ? `this command takes options alone; got ${got}`
        : `one ${nouns.at(-1)} at a time; got ${got} too`,
    )
  }
  const missing = names.findIndex((name, index) => name.startsWith('<') && index >= positionals.length)
  if (missing >= 0) {
    const words = missing === names.length - 1 ? `: ${positional?.[1]}` : ''
    throw new OptionError(`name the ${nouns[missing]}${words}`)
  }
  // The loop has visited every key of the table, which are the keys of V.
  return { options: { ...(values as V), setBy } as Options<V>, positionals }
}

/** An option as commander parses it and shows it in a help. */
export function commanderOption(spec: OptionSpec<unknown>): Option {
  const { placeholder } = spec.kind
  const flags = placeholder === null ? `--${spec.name}` : `--${spec.name} ${placeholder}`
  const shown = shownDefault(spec.default)
  const isSilent = shown === null || placeholder === null
  const option = new Option(flags, isSilent ? spec.description : `${spec.description} (default: ${shown})`)
  if (placeholder === null) return option
  return option.argParser((text: string, earlier?: {}) => valueOf(spec, `--${spec.name}`, text, earlier))
}

/** The value of an option's text. `earlier` is the value of an earlier mention. Throws {@link OptionError}. */
function valueOf<T>({ kind }: OptionSpec<T>, name: string, text: string, earlier?: T & {}): T & {} {
  const value = kind.parse(text, earlier)
  if (value === undefined) {
    const gotText = kind.isSecret === true ? 'the given text is not' : `got ${quoted(text)}`
    throw new OptionError(`${name} must be ${kind.range}; ${gotText}`)
  }
  return value
}

/** A value for a message: shortened, and without a URL's credentials. */
export function quoted(text: string): string {
  const safe = text.replace(/\/\/[^/]*@/, '//…@')
  return JSON.stringify(safe.length > 100 ? `${safe.slice(0, 100)}…` : safe)
}

/** Commander's message without its prefix and its line breaks. */
export function oneLine(message: string): string {
  return message
    .replace(/^error: /, '')
    .replace(/\s*\n\s*/g, ' ')
    .trim()
}
