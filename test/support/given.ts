import {
  type CliCommand,
  type CommandContext,
  type Environment,
  parseCommand,
} from '../../src/cli/parse-options.ts'
import type { Options, OptionTable } from '../../src/options/option-spec.ts'
import type { Terminal } from '../../src/cli/terminal/terminal.ts'

/** What a command's `run` is given for these arguments. Throws `OptionError`. */
export function given<V>(
  command: { readonly table: OptionTable<V>; readonly positional?: CliCommand['positional'] },
  argv: readonly string[],
  terminal: Terminal,
  env: Environment = {},
): [options: Options<V>, context: CommandContext] {
  const { options, positionals } = parseCommand(command, argv, env)
  return [options, { argv, positionals, env, terminal }]
}
