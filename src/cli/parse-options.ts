import { Command, CommanderError, Option } from 'commander'
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
export class OptionError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'OptionError'
  }
}

/** A command, as its help and `docs/options.md` show it. */
export interface CliCommand {
  /** `db compress` */
  readonly name: string
  readonly description: string
  readonly options: Readonly<Record<string, OptionSpec<unknown>>>
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
  return parseWithModel(table, argv, env, false).options
}

/** The same for a command that may name a model beside its options. */
export function parseWithModel<V>(
  table: OptionTable<V>,
  argv: readonly string[],
  env: Environment,
  mayNameModel = true,
): { readonly options: Options<V>; readonly model: string | undefined } {
  const command = new Command()
    .exitOverride()
    .helpOption(false)
    .configureOutput({ outputError: () => {} })
    .allowExcessArguments(mayNameModel)
  for (const spec of specsOf(table)) command.addOption(commanderOption(spec))
  try {
    command.parse(argv, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    throw new OptionError(oneLine(error.message))
  }
  const values: Partial<V> = {}
  const sources: Partial<Record<keyof V, OptionSource>> = {}
  const setBy: Partial<Record<keyof V, string | null>> = {}
  for (const key in table) {
    const spec = table[key]
    const flag = `--${spec.name}`
    const mentions = mentionsOf(command.getOptionValue(commanderOption(spec).attributeName()))
    const isGiven = mentions.length > 0
    const variable = isGiven ? undefined : spec.env.find((name) => (env[name] ?? '') !== '')
    sources[key] = isGiven ? 'flag' : variable === undefined ? 'default' : 'environment'
    setBy[key] = isGiven ? flag : (variable ?? null)
    values[key] =
      variable === undefined
        ? valueOf(spec, flag, mentions)
        : valueOf(spec, `${variable} (${flag})`, [env[variable] ?? ''])
  }
  const [model, extra] = command.args
  if (extra !== undefined) throw new OptionError(`one model at a time; got ${JSON.stringify(extra)} too`)
  // The loop has visited every key of the table, which are the keys of V.
  return { options: { ...(values as V), sources, setBy } as Options<V>, model }
}

function commanderOption(spec: OptionSpec<unknown>): Option {
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

/** What was written behind a flag, mention by mention. */
function mentionsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : value === true ? ['true'] : []
}

function valueOf<T>(spec: OptionSpec<T>, name: string, mentions: readonly string[]): T {
  let value: (T & {}) | undefined
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
