import { exitCode } from './exit-code.ts'
import { Command, CommanderError } from 'commander'
import { callsOptionTable } from './commands/calls-options.ts'
import { costsSetOptionTable, costsShowOptionTable } from './commands/costs-options.ts'
import { syncOptionTable } from './commands/costs-sync-options.ts'
import {
  checkOptionTable,
  compressOptionTable,
  rebuildOptionTable,
  repriceOptionTable,
} from './commands/db-options.ts'
import { dashboardOptionTable, gatewayCommandTable, upOptionTable } from '../options/dashboard-options.ts'
import { commandOf, type Environment, oneLine, OptionError } from './parse-options.ts'
import { version } from './package-version.ts'
import { tailOptionTable } from './commands/tail-options.ts'
import { verifyOptionTable } from './commands/verify-options.ts'

/**
 * The command `tokenweir`. Resolves when the asked-for command has done its work, or runs on its own; the exit
 * code stands in `process.exitCode`.
 */
export async function main(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  process.stdout.on('error', noteOutputError)
  const program = new Command('tokenweir')
    .description('An inference gateway with latency telemetry.')
    .version(version, '--version')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`tokenweir: ${oneLine(text)}\n`) })
  // The arguments behind the command's name: each command reads them itself, together with the environment.
  const rest = (name: string): readonly string[] => argv.slice(argv.indexOf(name) + 1)
  /** For commands that only read: those that change something change what lies in this folder. */
  const readerEnv = async (name: string): Promise<Environment> => {
    const { withRunningDatabase } = await import('./commands/running-database.ts')
    return await withRunningDatabase(rest(name), env, (text) => process.stderr.write(text))
  }
  const up = commandOf('up', 'dashboard and gateway together', upOptionTable).action(async () => {
    const { runUp } = await import('./commands/up.ts')
    await runUp(rest('up'), env)
  })
  const gateway = commandOf('gateway', 'forward calls and record them', gatewayCommandTable).action(
    async () => {
      const { runGateway } = await import('./commands/gateway.ts')
      await runGateway(rest('gateway'), env)
    },
  )
  const dashboard = commandOf(
    'dashboard',
    'show what was recorded, and control the gateway',
    dashboardOptionTable,
  ).action(async () => {
    const { runDashboard } = await import('./commands/dashboard.ts')
    await runDashboard(rest('dashboard'), env)
  })
  const demo = commandOf('demo', 'a first look, with a simulated upstream', upOptionTable).action(
    async () => {
      const { runDemo } = await import('./commands/demo.ts')
      await runDemo(rest('demo'), env)
    },
  )
  const calls = commandOf('calls', 'list recorded calls, the newest last', callsOptionTable).action(
    async () => {
      const [{ runCalls }, { callsContext }] = await Promise.all([
        import('./commands/calls.ts'),
        import('./commands/calls-context.ts'),
      ])
      process.exitCode = await runCalls(rest('calls'), await readerEnv('calls'), callsContext(process, env))
    },
  )
  const tail = commandOf('tail', 'show calls as they begin and end', tailOptionTable).action(async () => {
    const [{ runTail }, { tailContext }] = await Promise.all([
      import('./commands/tail.ts'),
      import('./commands/tail-context.ts'),
    ])
    process.exitCode = await runTail(rest('tail'), env, tailContext(process, env))
  })
  const verify = commandOf(
    'verify',
    'make one call and compare what was sent with what came',
    verifyOptionTable,
  ).action(async () => {
    const { runVerify } = await import('./commands/verify.ts')
    process.exitCode = await runVerify(rest('verify'), env, {
      print: (text) => process.stdout.write(text),
      warn: (text) => process.stderr.write(text),
    })
  })
  const db = new Command('db').description('look after the telemetry database').copyInheritedSettings(program)
  const compress = commandOf(
    'compress',
    'fold old calls into sums and make the file smaller',
    compressOptionTable,
  ).action(async () => {
    const [{ runCompress }, { dbContext }] = await Promise.all([
      import('./commands/db-compress.ts'),
      import('./commands/db-context.ts'),
    ])
    process.exitCode = await runCompress(rest('compress'), env, dbContext(process))
  })
  const check = commandOf('check', 'say whether the database is sound', checkOptionTable).action(async () => {
    const [{ runCheck }, { dbContext }] = await Promise.all([
      import('./commands/db-check.ts'),
      import('./commands/db-context.ts'),
    ])
    process.exitCode = runCheck(rest('check'), await readerEnv('check'), dbContext(process))
  })
  const rebuild = commandOf('rebuild', 'make the sums anew from the calls', rebuildOptionTable).action(
    async () => {
      const [{ runRebuild }, { dbContext }] = await Promise.all([
        import('./commands/db-rebuild.ts'),
        import('./commands/db-context.ts'),
      ])
      process.exitCode = await runRebuild(rest('rebuild'), env, dbContext(process))
    },
  )
  const reprice = commandOf(
    'reprice',
    'give calls the cost that the prices of their time say',
    repriceOptionTable,
  ).action(async () => {
    const [{ runReprice }, { dbContext }] = await Promise.all([
      import('./commands/db-reprice.ts'),
      import('./commands/db-context.ts'),
    ])
    process.exitCode = await runReprice(rest('reprice'), env, dbContext(process))
  })
  for (const command of [compress, check, rebuild, reprice]) db.addCommand(command.copyInheritedSettings(db))
  const costs = new Command('costs').description('what models cost').copyInheritedSettings(program)
  const sync = commandOf('sync', 'bring the prices up to date with a list', syncOptionTable).action(
    async () => {
      const [{ runCostsSync }, { syncContext }] = await Promise.all([
        import('./commands/costs-sync.ts'),
        import('./commands/costs-sync-context.ts'),
      ])
      process.exitCode = await runCostsSync(rest('sync'), env, syncContext(process))
    },
  )
  const show = commandOf('show', 'say what a model costs, or what prices there are', costsShowOptionTable)
    .argument('[model]')
    .action(async () => {
      const [{ runCostsShow }, { costsContext }] = await Promise.all([
        import('./commands/costs-show.ts'),
        import('./commands/costs-context.ts'),
      ])
      process.exitCode = runCostsShow(rest('show'), await readerEnv('show'), costsContext(process))
    })
  const set = commandOf('set', 'set or remove a price of your own', costsSetOptionTable)
    .argument('<name>', 'a model, or host/model')
    .action(async () => {
      const [{ runCostsSet }, { costsContext }] = await Promise.all([
        import('./commands/costs-set.ts'),
        import('./commands/costs-context.ts'),
      ])
      process.exitCode = await runCostsSet(rest('set'), env, costsContext(process))
    })
  for (const command of [show, set, sync]) costs.addCommand(command.copyInheritedSettings(costs))
  for (const command of [up, gateway, dashboard, calls, tail, costs, db, verify, demo])
    program.addCommand(command.copyInheritedSettings(program))

  try {
    await program.parseAsync(argv, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode !== 0) process.exitCode = exitCode.usage
      return
    }
    if (!(error instanceof OptionError)) throw error
    process.stderr.write(`tokenweir: ${error.message}\n`)
    process.exitCode = exitCode.usage
  }
}

/** A reader that has seen enough, as `head` has, is no fault. */
function noteOutputError(error: Error & { readonly code?: string }): void {
  if (error.code !== 'EPIPE') process.exitCode = exitCode.fault
}

if (import.meta.main) await main(process.argv.slice(2), process.env)
