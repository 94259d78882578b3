import { Command, CommanderError, type OutputConfiguration } from 'commander'
import { codeOf, fileFault, messageOf, reasonOf } from '../lib/errors.ts'
import { withEscapes } from '../lib/unprintable.ts'
import { lowerPriority } from '../lib/process/lower-priority.ts'
import { exitCode, exitCodeOf } from './exit-code.ts'
import { checkFolders, type FolderUse } from './folder-rights.ts'
import { afterOptions, helpLayout, helpOf, helpWidth, sentence } from './help.ts'
import { version } from './package-version.ts'
import { type CliCommand, type CommandContext, oneLine, parseCommand } from './parse-options.ts'
import { thisTerminal } from './terminal/terminal.ts'

/** The module of a command. */
interface CommandModule extends Pick<CliCommand, 'example' | 'positional'> {
  readonly table: CliCommand['options']
  readonly use: FolderUse
  /** Runs the command. Commands declare it as a `CommandRun`. */
  readonly run: (options: never, context: CommandContext) => Promise<number | void> | number
}

/**
 * All commands, in the order of the help. The module of a command is loaded only to run the command or to
 * show its options.
 */
export const commands: Readonly<
  Record<string, readonly [description: string, load: () => Promise<CommandModule>]>
> = {
  up: ['run dashboard and gateway together', () => import('./commands/up.ts')],
  gateway: ['forward calls and record them', () => import('./commands/gateway.ts')],
  dashboard: ['show recorded calls, and control the gateway', () => import('./commands/dashboard.ts')],
  calls: ['list recorded calls, newest last', () => import('./commands/calls.ts')],
  sessions: ['list sessions, newest last', () => import('./commands/sessions.ts')],
  tail: ['follow calls as they start and end', () => import('./commands/tail.ts')],
  top: ['show calls in progress', () => import('./commands/top.ts')],
  'gateways list': [
    'list gateways that share a limit; the same as gateways alone',
    () => import('./commands/gateways-list.ts'),
  ],
  'gateways set': ['change the limit that gateways share', () => import('./commands/gateways-set.ts')],
  limits: ['show the rate limits that providers report', () => import('./commands/limits.ts')],
  'costs show': [
    'show the price of a model, or all prices of your own',
    () => import('./commands/costs-show.ts'),
  ],
  'costs set': ['set or remove a price of your own', () => import('./commands/costs-set.ts')],
  'costs sync': ['update prices from a price list', () => import('./commands/costs-sync.ts')],
  'clients list': [
    'list clients, their limits and use; same as clients alone',
    () => import('./commands/clients-list.ts'),
  ],
  'clients set': ['limit the calls or tokens of a client', () => import('./commands/clients-set.ts')],
  'clients name': ['give the calls of a key a client name', () => import('./commands/clients-name.ts')],
  'upstreams list': [
    'list upstreams and their state; same as upstreams alone',
    () => import('./upstreams/upstreams-list.ts'),
  ],
  'upstreams add': ['add an upstream to the default one', () => import('./upstreams/upstreams-add.ts')],
  'upstreams set': ['change an upstream', () => import('./upstreams/upstreams-set.ts')],
  'upstreams remove': ['remove an upstream', () => import('./upstreams/upstreams-remove.ts')],
  'upstreams test': [
    'request the models of upstreams, and show the result',
    () => import('./upstreams/upstreams-test.ts'),
  ],
  alerts: ['list alert rules and active alerts, or send a test', () => import('./commands/alerts.ts')],
  'db compress': [
    'roll old calls up into totals and shrink the file',
    () => import('./database/db-compress.ts'),
  ],
  'db check': ['check the database for damage', () => import('./database/db-check.ts')],
  'db export': ['write calls to a file', () => import('./database/db-export.ts')],
  'db backup': ['copy the database while it is in use', () => import('./database/db-backup.ts')],
  'db rebuild': ['recompute the totals from the calls', () => import('./database/db-rebuild.ts')],
  'db reprice': [
    'recalculate the cost of calls, at the prices of their time',
    () => import('./database/db-reprice.ts'),
  ],
  'db import': [
    'import calls from LiteLLM, the older proxy, or another tokenweir',
    () => import('./database/db-import.ts'),
  ],
  'db move': ['send all calls to the shared database', () => import('./database/db-move.ts')],
  mcp: ['serve recorded calls to agents over MCP', () => import('./commands/mcp.ts')],
  env: ['print settings that point a client at the gateway', () => import('./commands/env.ts')],
  'service print': ['print a systemd unit that runs tokenweir', () => import('./commands/service-print.ts')],
  doctor: ['find problems, and say how to fix them', () => import('./commands/doctor.ts')],
  demo: ['try it with a simulated upstream', () => import('./commands/demo.ts')],
}

/** Commands that run with low priority, because calls go first. */
const lowPriority = /^db (?!check)/

const groups: Readonly<Record<string, string>> = {
  clients: 'clients and their limits',
  costs: 'prices of models',
  db: 'maintain the telemetry database',
  gateways: 'gateways that share a limit',
  upstreams: 'upstreams that calls go to',
  service: 'run tokenweir as a system service',
}

const gatewayPortFlag = /^--gateway-port(?==|$)/

/** Names that people try, each with the command that it means. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  version: ['--version'],
  'costs list': ['costs', 'show'],
  'costs remove': ['costs', 'set', '--remove'],
}

/** The headings of the help, each with its commands. */
const sections: Readonly<Record<string, readonly string[]>> = {
  Run: ['up', 'gateway', 'dashboard', 'demo'],
  Look: ['calls', 'sessions', 'tail', 'top', 'gateways', 'limits', 'alerts'],
  Change: ['clients', 'costs', 'upstreams'],
  Data: ['db'],
  'Set up': ['mcp', 'env', 'service', 'doctor', 'help'],
}

/**
 * Runs the command `tokenweir`. Resolves when the requested command has ended, or runs in the background. The
 * exit code is in `process.exitCode`.
 */
export async function main(commandLine: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  // A reader that closes the output early, such as `head`, is no fault.
  process.stdout.on('error', (error) => {
    if (codeOf(error) === 'EPIPE') return
    if (process.exitCode !== exitCode.fault)
      process.stderr.write(`tokenweir: standard output: ${reasonOf(error)}\n`)
    process.exitCode = exitCode.fault
  })
  // If messages cannot be written, as on a full disk, the program continues.
  process.stderr.on('error', () => {})
  try {
    const argv = withKnownName(commandLine)
    const [first = '', second = ''] = argv
    const isTwoWords = `${first} ${second}` in commands
    const isGroup = groups[first] !== undefined
    const lists = second === '' || second.startsWith('-') ? `${first} list` : ''
    const name = isTwoWords ? `${first} ${second}` : isGroup ? lists : first
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined
    if (command === undefined || argv.some((arg) => arg === '--help' || arg === '-h')) await explain(argv)
    else {
      const { run, table, positional, use } = await command[1]()
      if (lowPriority.test(name)) lowerPriority(process.pid)
      const args = argv.slice(isTwoWords ? 2 : 1)
      // `dashboard` has `--gateway-port`; for these commands it is `--port`.
      const commandArgs = /^(?:up|gateway|doctor|demo)$/.test(name)
        ? args.map((arg) => arg.replace(gatewayPortFlag, '--port'))
        : args
      // A wrong option is reported before any gateway is asked.
      const { options, positionals } = parseCommand({ table, positional }, commandArgs, env)
      const running = use === 'reads' || use === 'acts' ? await import('./running-database.ts') : null
      const usedOptions = running === null ? options : await running.withDatabase(use, options, env)
      checkFolders(use, usedOptions)
      const context = { argv: commandArgs, positionals, env, terminal: thisTerminal() }
      const code = await run(usedOptions as never, context)
      if (typeof code === 'number') process.exitCode = code
    }
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode !== 0) process.exitCode = exitCode.usage
      return
    }
    // A reader that has seen enough, as `head` has, is no fault.
    if (codeOf(error) === 'EPIPE') return
    const fault = systemFault(error)
    const code = fault === null ? exitCodeOf(error) : exitCode.fault
    if (code === null) throw error
    process.stderr.write(withEscapes(`tokenweir: ${fault ?? messageOf(error)}\n`))
    // An open connection of the command would keep the process alive.
    process.exit(code)
  }
}

/** Returns the arguments with the command's own name in place of a name that people try. */
function withKnownName(argv: readonly string[]): readonly string[] {
  const same = otherNames[`${argv[0]} ${argv[1]}`] ?? otherNames[argv.join(' ')]
  return same === undefined ? argv : [...same, ...argv.slice(2)]
}

/** The message of a system error about a file or the working folder, in one line; null for any other error. */
function systemFault(error: unknown): string | null {
  const isFolder = error instanceof Error && (error as NodeJS.ErrnoException).syscall === 'uv_cwd'
  return isFolder ? 'the current folder was deleted: change to another one' : fileFault(error)
}

/** Prints the help or the version. Rejects with `CommanderError` if the arguments name no command. */
async function explain(argv: readonly string[]): Promise<void> {
  const { stdout, env } = process
  const words = argv.filter((arg) => arg !== 'help' && !arg.startsWith('-'))
  const isAsked = (name: string): boolean => name === words[0] || name === `${words[0]} ${words[1]}`
  const program = await helpProgram({ getOutHelpWidth: () => helpWidth(stdout, env) }, isAsked)
  await program.parseAsync(argv, { from: 'user' })
}

/** Adds where the commands are listed to a message about an unknown command that is like no other. */
function withHelpHint(message: string): string {
  return /^unknown command '[^']*'$/.test(message)
    ? `${message}: tokenweir --help lists the commands`
    : message
}

/** A program with all commands, for help. Only the modules of commands that pass `isAsked` are loaded. */
export async function helpProgram(
  output: OutputConfiguration,
  isAsked: (name: string) => boolean = () => true,
): Promise<Command> {
  const program = new Command('tokenweir')
    .usage('<command> [options]')
    .description('Limits and records calls to language models, with a dashboard.')
    .version(version, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .exitOverride()
    .configureHelp(helpLayout)
    .configureOutput({
      outputError: (text, write) => write(`tokenweir: ${withHelpHint(oneLine(text))}\n`),
      ...output,
    })
  for (const [name, [description, load]] of Object.entries(commands)) {
    const [group = ''] = name.split(' ')
    const { table, ...shown } = isAsked(name) ? await load() : { table: {}, example: '' }
    const command = helpOf({ name, description, options: table, ...shown }, program)
    const parent = groups[group] === undefined ? program : groupOf(program, group, groups[group])
    if (parent === program) command.helpGroup(sectionOf(group))
    parent.addCommand(command)
  }
  const help = new Command('help').argument('[command]').summary('show the options of a command')
  program.addHelpCommand(help.helpGroup(sectionOf('help')))
  const aside = 'For the options of a command: tokenweir <command> --help.'
  return program.addHelpText('after', () => afterOptions(program, 'tokenweir demo', aside))
}

/** The command of a group, such as `clients`. */
function groupOf(program: Command, name: string, about: string): Command {
  const existing = program.commands.find((command) => command.name() === name)
  if (existing !== undefined) return existing
  const group = program.command(name).summary(about).description(sentence(about))
  return group.usage('<command> [options]').helpCommand(false).helpGroup(sectionOf(name))
}

function sectionOf(name: string): string {
  return `${Object.keys(sections).find((title) => sections[title]?.includes(name))}:`
}

if (import.meta.main) await main(process.argv.slice(2), process.env)
