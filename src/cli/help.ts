import { Command, Help, Option } from 'commander'
import type { OptionSpec } from '../options/option-spec.ts'
import { type CliCommand, commanderOption } from './parse-options.ts'

/** Most options of a single list without groups. */
const shortList = 8
/** The least, greatest and default width of the help in columns. */
const leastWidth = 40
const greatestWidth = 200
const usualWidth = 80
/** Width of the terms in columns, if descriptions are beside them. */
const termWidth = 28
/** In a narrower terminal, descriptions are below their terms. */
const leastWidthBeside = 72

/** Options that a newcomer needs first. A command with many options lists them apart. */
const firstDay = new Set(
  'port gateway-port dashboard-port host upstream max-concurrent token-limit budget-action keep-days db recent since follow model client errors json out format'.split(
    ' ',
  ),
)

/** Width of the help in columns: that of the terminal, else `COLUMNS`, else 80. */
export function helpWidth({ isTTY, columns }: NodeJS.WriteStream, env: NodeJS.ProcessEnv): number {
  const width = (isTTY ? columns : Number(env['COLUMNS'])) || usualWidth
  return Math.min(Math.max(width, leastWidth), greatestWidth)
}

/** The layout of a command's help, for `configureHelp`. */
export const helpLayout: Partial<Help> = {
  minWidthToWrap: 1,
  commandUsage(this: Help, command) {
    const usage = Help.prototype.commandUsage.call(this, command)
    const indent = 'Usage: '.length
    const wrapped = this.boxWrap(usage, (this.helpWidth ?? usualWidth) - indent)
    return wrapped.replaceAll('\n', `\n${' '.repeat(indent)}`)
  },
  subcommandTerm: (command) => command.name(),
  subcommandDescription: (command) => {
    const names = command.commands.map((subcommand) => subcommand.name())
    return names.length === 0 ? command.summary() : `${command.summary()}: ${names.join(', ')}`
  },
  padWidth(command, helper) {
    const longest = Math.max(
      helper.longestOptionTermLength(command, helper),
      helper.longestSubcommandTermLength(command, helper),
      helper.longestArgumentTermLength(command, helper),
    )
    return Math.min(longest, termWidth)
  },
  formatItem(term, width, description, helper) {
    const helpWidth = helper.helpWidth ?? usualWidth
    const isBelow = helpWidth < leastWidthBeside && width > termWidth / 2
    const indent = isBelow ? 6 : width + 4
    // A default is not separated from its label by a line break.
    const wrapped = helper.boxWrap(description.replaceAll('(default: ', '(default:\0'), helpWidth - indent)
    const lines = wrapped.replaceAll('\0', ' ').split('\n')
    const isApart = isBelow || term.length > width
    const first = isApart ? [`  ${term}`] : [`  ${term.padEnd(width)}  ${lines.shift()}`]
    return [...first, ...lines.map((line) => ' '.repeat(indent) + line)].join('\n').trimEnd()
  },
}

/** A command for its help text only, with the settings of its program. */
export function helpOf(
  { name, description, options, positional, example }: CliCommand,
  program = new Command().exitOverride().configureHelp(helpLayout),
): Command {
  const command = new Command(name.split(' ').at(-1))
    .summary(description)
    .description(sentence(description))
    .copyInheritedSettings(program)
  if (positional !== undefined) {
    const names = positional[0].split(' ')
    for (const word of names) command.argument(word, word === names.at(-1) ? positional[1] : '')
    command.usage(`${positional[0]} [options]`)
  }
  const specs = Object.values(options)
  const isShort = specs.length <= shortList
  const restHeading = isShort ? 'Options:' : 'More options:'
  const isFirst = (spec: OptionSpec<unknown>): boolean => !isShort && firstDay.has(spec.name)
  for (const spec of specs.filter(isFirst))
    command.addOption(commanderOption(spec).helpGroup('Common options:'))
  for (const spec of specs.filter((option) => !isFirst(option)))
    command.addOption(commanderOption(spec).helpGroup(restHeading))
  command.addHelpOption(new Option('-h, --help', 'show this help').helpGroup(restHeading))
  const [variable] = specs.flatMap(({ env }) => env)
  const aside = variable === undefined ? '' : `Variables set options, too, such as ${variable}. A flag wins.`
  return command.addHelpText('after', ({ command: shown }) => afterOptions(shown, example, aside))
}

/** The words with a capital at the beginning and a full stop. */
export function sentence(words: string): string {
  return `${words[0]?.toUpperCase()}${words.slice(1)}.`
}

/** An example that can be copied, and a sentence. */
export function afterOptions(command: Command, example: string, aside: string): string {
  const width = command.configureOutput().getOutHelpWidth?.() ?? usualWidth
  const words = aside === '' ? '' : `\n${command.createHelp().boxWrap(aside, width)}`
  return `\nExample:\n${continued(`  ${example}`, width)}\n${words}`.trimEnd()
}

/** A command line, wrapped to a width. Each line but the last ends in the shell's `\`. */
function continued(line: string, width: number): string {
  if (line.length <= width) return line
  const outsideQuotes = / (?=(?:[^"']*["'][^"']*["'])*[^"']*$)/g
  const ends = [...line.matchAll(outsideQuotes)].map(({ index }) => index)
  const end = ends.findLast((at) => at <= width - ' \\'.length && line.slice(0, at).trim() !== '')
  return end === undefined ? line : `${line.slice(0, end)} \\\n${continued(`   ${line.slice(end)}`, width)}`
}
