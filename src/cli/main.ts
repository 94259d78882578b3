import { Command, CommanderError } from 'commander'
import { codeOf, messageOf, systemWords } from '../lib/errors.ts'
import { lowerPriority } from '../lib/lower-priority.ts'
import { exitCode, exitCodeOf } from './exit-code.ts'
import { checkFolders, type FolderUse } from './folder-rights.ts'
import { version } from './package-version.ts'
import { type CliCommand, type CommandContext, helpOf, oneLine, parseCommand } from './parse-options.ts'
import { thisTerminal } from './terminal/terminal.ts'

/** The module of a command. */
interface CommandModule {
  readonly table: CliCommand['options']
  readonly positional?: CliCommand['positional']
  /** A `CommandRun` of the table. */
  readonly run: (options: never, context: CommandContext) => Promise<number | void> | number
}

/** All commands, in the order of the help. A command's module is loaded only if it is asked for. */
export const commands: Readonly<
  Record<string, readonly [description: string, load: () => Promise<CommandModule>, use: FolderUse]>
> = {
  up: ['dashboard and gateway together', () => import('./commands/up.ts'), 'serves'],
  gateway: ['forward calls and record them', () => import('./commands/gateway.ts'), 'serves'],
  dashboard: [
    'show what was recorded, and control the gateway',
    () => import('./commands/dashboard.ts'),
    'serves',
  ],
  calls: ['list recorded calls, the newest last', () => import('./commands/calls.ts'), 'reads'],
  sessions: ['list sessions, the newest last', () => import('./commands/sessions.ts'), 'reads'],
  tail: ['show calls as they begin and end', () => import('./commands/tail.ts'), 'none'],
  top: ['show the calls that are under way', () => import('./commands/top.ts'), 'reads'],
  gateways: ['list the gateways that share a limit', () => import('./commands/gateways.ts'), 'reads'],
  limits: ['show what providers tell of their limits', () => import('./commands/limits.ts'), 'reads'],
  'costs show': [
    'say what a model costs, or what prices there are',
    () => import('./commands/costs-show.ts'),
    'reads',
  ],
  'costs set': ['set or remove a price of your own', () => import('./commands/costs-set.ts'), 'acts'],
  'costs sync': ['bring the prices up to date with a list', () => import('./commands/costs-sync.ts'), 'acts'],
  'clients list': [
    'list who called, limits, and what is left of them; the same as clients alone',
    () => import('./commands/clients-list.ts'),
    'reads',
  ],
  'clients set': [
    'limit the calls or the tokens of a client',
    () => import('./commands/clients-set.ts'),
    'acts',
  ],
  'clients name': ['name the calls of a key', () => import('./commands/clients-name.ts'), 'acts'],
  'upstreams list': [
    'list upstreams, as they are set and found; the same as upstreams alone',
    () => import('./upstreams/upstreams-list.ts'),
    'reads',
  ],
  'upstreams add': [
    'add an upstream beside the default one',
    () => import('./upstreams/upstreams-add.ts'),
    'acts',
  ],
  'upstreams set': ['change an upstream', () => import('./upstreams/upstreams-set.ts'), 'acts'],
  'upstreams remove': ['take an upstream away', () => import('./upstreams/upstreams-remove.ts'), 'acts'],
  'upstreams test': [
    'ask upstreams for their models, and say what came',
    () => import('./upstreams/upstreams-test.ts'),
    'acts',
  ],
  alerts: [
    'list alert rules and what is active, or send a test',
    () => import('./commands/alerts.ts'),
    'reads',
  ],
  'db compress': [
    'fold old calls into sums and make the file smaller',
    () => import('./database/db-compress.ts'),
    'acts',
  ],
  'db check': ['say whether the database is sound', () => import('./database/db-check.ts'), 'reads'],
  'db export': ['write calls to a file', () => import('./database/db-export.ts'), 'reads'],
  'db backup': ['copy the database while it is in use', () => import('./database/db-backup.ts'), 'reads'],
  'db rebuild': ['make the sums anew from the calls', () => import('./database/db-rebuild.ts'), 'acts'],
  'db reprice': [
    'give calls the cost that the prices of their time say',
    () => import('./database/db-reprice.ts'),
    'acts',
  ],
  'db import': [
    'bring in calls that were recorded elsewhere: LiteLLM, the older proxy, another tokenweir',
    () => import('./database/db-import.ts'),
    'acts',
  ],
  'db move': [
    'send all calls to the database that gateways share',
    () => import('./database/db-move.ts'),
    'acts',
  ],
  mcp: ['answer the questions of agents about what was recorded', () => import('./commands/mcp.ts'), 'none'],
  env: ['print what points a client at the gateway', () => import('./commands/env.ts'), 'none'],
  'service print': ['print a systemd unit that runs it', () => import('./commands/service-print.ts'), 'none'],
  doctor: [
    'look for what stands in the way, and say what to do',
    () => import('./commands/doctor.ts'),
    'none',
  ],
  demo: ['a first look, with a simulated upstream', () => import('./commands/demo.ts'), 'none'],
}

/** Calls go before them, also if nobody but a terminal began them. */
const longJobs = /^db (?!check)/

const groups: Readonly<Record<string, string>> = {
  clients: 'who calls, and what each may use',
  costs: 'what models cost',
  db: 'look after the telemetry database',
  upstreams: 'where calls go',
  service: 'run it as a service of the system',
}

/**
 * The command `tokenweir`. Resolves when the asked-for command has done its work, or runs on its own; the exit
 * code stands in `process.exitCode`.
 */
export async function main(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  // A reader that has seen enough, as `head` has, is no fault.
  process.stdout.on('error', (error) => {
    if (codeOf(error) !== 'EPIPE') process.exitCode = exitCode.fault
  })
  // Words for people that cannot be written, as on a full disk, end no program.
  process.stderr.on('error', () => {})
  try {
    const [first = '', second = ''] = argv
    const isWhole = `${first} ${second}` in commands
    const name = isWhole ? `${first} ${second}` : `${first} list` in commands ? `${first} list` : first
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined
    if (command === undefined || argv.some((arg) => arg === '--help' || arg === '-h')) await explain(argv)
    else {
      const [, load, use] = command
      const { run, table, positional } = await load()
      if (longJobs.test(name)) lowerPriority(process.pid)
      const rest = argv.slice(isWhole ? 2 : 1)
      // A wrong option is told before a gateway is asked.
      parseCommand({ table, positional }, rest, env)
      const own =
        use === 'reads' || use === 'acts'
          ? await (await import('./running-database.ts')).withDatabase(use, rest, env)
          : env
      const { options, positionals } = parseCommand({ table, positional }, rest, own)
      checkFolders(use, options)
      const context = { argv: rest, positionals, env: own, terminal: thisTerminal() }
      const code = await run(options as never, context)
      if (typeof code === 'number') process.exitCode = code
    }
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode !== 0) process.exitCode = exitCode.usage
      return
    }
    const fault = systemFault(error)
    const code = fault === null ? exitCodeOf(error) : exitCode.fault
    if (code === null) throw error
    process.stderr.write(`tokenweir: ${fault ?? messageOf(error)}\n`)
    // What the command has begun, such as a connection, would keep the process alive.
    process.exit(code)
  }
}

/** What the system refused about a file or the working folder, in one line; null for any other error. */
function systemFault(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  const { path, syscall } = error as NodeJS.ErrnoException
  if (syscall === 'uv_cwd') return 'the folder that this was started in is gone: change to another one'
  const words = systemWords(error)
  return path === undefined || words === null ? null : `${path}: ${words}`
}

/** Prints help or version, or refuses what names no command. Throws `CommanderError`. */
async function explain(argv: readonly string[]): Promise<void> {
  const program = new Command('tokenweir')
    .description('An inference gateway with latency telemetry.')
    .version(version, '--version')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`tokenweir: ${oneLine(text)}\n`) })
  for (const [name, [description, load]] of Object.entries(commands)) {
    const [group = ''] = name.split(' ')
    const about = groups[group]
    const parent =
      about === undefined
        ? program
        : (program.commands.find((one) => one.name() === group) ??
          program.command(group).description(about).copyInheritedSettings(program))
    const { table, positional } = await load()
    const command = helpOf({ name, description, options: table, positional })
    parent.addCommand(command.copyInheritedSettings(program))
  }
  await program.parseAsync(argv, { from: 'user' })
}

if (import.meta.main) await main(process.argv.slice(2), process.env)
