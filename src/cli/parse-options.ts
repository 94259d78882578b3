import { Command, CommanderError, Option } from 'commander'
import { CommandError, exitCode } from './exit-code.ts'
import {
  type Options,
  type OptionSource,
  type OptionSpec,
  type OptionTable,
  shownValue,
  specsOf,
} from '../options/option-spec.ts'

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
  /** What it takes beside its options: `[model]`, or several with spaces between them; the words are of the last. */
  readonly operand?: readonly [name: string, description: string] | undefined
}

/** To be asked for its help. */
export function helpOf({ name, description, options, operand }: CliCommand): Command {
  const command = new Command(name.split(' ').at(-1)).description(description).exitOverride()
  if (operand !== undefined) {
    const names = operand[0].split(' ')
    for (const each of names) command.argument(each, each === names.at(-1) ? operand[1] : '')
  }
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
  return parse(table, argv, env, []).options
}

/** The same for a command that may name one thing, a `what`, beside its options. */
export function parseWithName<V>(
  table: OptionTable<V>,
  argv: readonly string[],
  env: Environment,
  what: string,
): { readonly options: Options<V>; readonly name: string | undefined } {
  const { options, operands } = parse(table, argv, env, [what])
  return { options, name: operands[0] }
}

/** The same for a command that may name one of `words`: which `what` it is for. */
export function parseWithWord<V, T extends string>(
  table: OptionTable<V>,
  argv: readonly string[],
  env: Environment,
  what: string,
  words: readonly T[],
): { readonly options: Options<V>; readonly word: T } {
  const { options, name } = parseWithName(table, argv, env, what)
  const word = words.find((each) => each === name)
  if (word !== undefined) return { options, word }
  const got = name === undefined ? 'none was named' : `got ${quoted(name)}`
  throw new OptionError(`the ${what} must be one of ${words.join(', ')}; ${got}`)
}

/** The same for a command that must be given one thing of each of these names, in this order. */
export function parseWithOperands<V>(
  table: OptionTable<V>,
  argv: readonly string[],
  env: Environment,
  names: readonly string[],
): { readonly options: Options<V>; readonly operands: readonly string[] } {
  const parsed = parse(table, argv, env, names)
  const missing = names[parsed.operands.length]
  if (missing !== undefined) throw new OptionError(`name the ${missing}`)
  return parsed
}

function parse<V>(
  table: OptionTable<V>,
  argv: readonly string[],
  env: Environment,
  operandNames: readonly string[],
): { readonly options: Options<V>; readonly operands: readonly string[] } {
  const command = new Command()
    .exitOverride()
    .helpOption(false)
    .configureOutput({ outputError: () => {} })
    .allowExcessArguments(operandNames.length > 0)
  for (const spec of specsOf(table)) command.addOption(commanderOption(spec))
  try {
    command.parse(argv, { from: 'user' })
  } catch (error) {
    throw error instanceof CommanderError ? new OptionError(oneLine(error.message)) : error
  }
  const values: Partial<V> = {}
  const sources: Partial<Record<keyof V, OptionSource>> = {}
  const setBy: Partial<Record<keyof V, string | null>> = {}
  for (const key in table) {
    const spec = table[key]
    const given = command.getOptionValue(commanderOption(spec).attributeName()) as V[typeof key] | undefined
    const variable = given === undefined ? spec.env.find((name) => (env[name] ?? '') !== '') : undefined
    sources[key] = given !== undefined ? 'flag' : variable === undefined ? 'default' : 'environment'
    setBy[key] = given !== undefined ? `--${spec.name}` : (variable ?? null)
    values[key] = given ?? spec.default
    if (variable !== undefined)
      values[key] = valueOf(spec, `${variable} (--${spec.name})`, env[variable] ?? '')
  }
  const operands = command.args
  const extra = operands[operandNames.length]
  if (extra !== undefined)
    throw new OptionError(`one ${operandNames.at(-1)} at a time; got ${JSON.stringify(extra)} too`)
  // The loop has visited every key of the table, which are the keys of V.
  return { options: { ...(values as V), sources, setBy } as Options<V>, operands }
}

function commanderOption(spec: OptionSpec<unknown>): Option {
  const { placeholder } = spec.kind
  const flags = placeholder === null ? `--${spec.name}` : `--${spec.name} ${placeholder}`
  const shown = shownValue(spec.default)
  const isSilent = shown === 'off' && placeholder === null
  const option = new Option(flags, isSilent ? spec.description : `${spec.description} (default: ${shown})`)
  if (placeholder === null) return option
  return option.argParser((text: string, earlier?: {}) => valueOf(spec, `--${spec.name}`, text, earlier))
}

/** Throws {@link OptionError}. `earlier` is what an earlier mention gave. */
function valueOf<T>({ kind }: OptionSpec<T>, name: string, text: string, earlier?: T & {}): T & {} {
  const value = kind.parse(text, earlier)
  if (value === undefined) {
    const got = kind.isSecret === true ? 'what was got is none' : `got ${quoted(text)}`
    throw new OptionError(`${name} must be ${kind.range}; ${got}`)
  }
  return value
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
