import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import type { HealthReport } from '../api/health-report.ts'
import { ControlClient } from '../control/control-client.ts'
import { ownOptionTable } from '../options/dashboard-options.ts'
import { defaultDatabase, gatewayOptionTable } from '../options/gateway-options.ts'
import { envName, type OptionSpec } from '../options/option-spec.ts'
import { askHealth } from '../supervisor/gateway-port.ts'
import type { FolderUse } from './folder-rights.ts'
import { type Environment, OptionError, parseOptions } from './parse-options.ts'
import { reachableOrigin } from './terminal/reachable-origin.ts'
import { WarningLines } from './terminal/warning-lines.ts'

/**
 * Time limit for a gateway's answer, long enough for a busy gateway: without its answer another database
 * would be used.
 */
const probeLimitMs = 5000
const variable = envName('db')

/** The environment for a command, with the database that it uses. Rejects with {@link OptionError}. */
export async function withDatabase(
  use: FolderUse,
  argv: readonly string[],
  env: Environment,
): Promise<Environment> {
  const isNamed = argv.some((arg) => arg === '--db' || arg.startsWith('--db='))
  if (isNamed || (env[variable] ?? '') !== '') return env
  if (use === 'reads') return forReading(env)
  return use === 'acts' ? forActing(env) : env
}

/**
 * The environment of a command that reads: the database of the gateway in this folder, else of that on the
 * default port. Standard error names it.
 */
async function forReading(env: Environment): Promise<Environment> {
  const gateway = await runningGateway(env)
  if (gateway === null) return env
  for (const line of new WarningLines().next(gateway.warnings)) console.error(line)
  return isElsewhere(gateway.db)
    ? using(gateway.db, env, `the running gateway (process ${gateway.pid})`)
    : env
}

/**
 * The environment of a command that changes files. The command uses this folder or a named one, never the gateway
 * on the default port.
 */
async function forActing(env: Environment): Promise<Environment> {
  const port = portIn(env)
  const dashboardPort = namedIn(ownOptionTable.dashboardPort, env)
  if (namedIn(gatewayOptionTable.port, env)) {
    const gateway = await onPort(port)
    if (gateway !== null && isElsewhere(gateway.db))
      return using(gateway.db, env, `the gateway on port ${port}`)
    if (gateway !== null) return env
  }
  if (dashboardPort) {
    const { dashboardPort: named } = parseOptions({ dashboardPort: ownOptionTable.dashboardPort }, [], env)
    const db = await databaseOfDashboard(named)
    if (db !== null) return isElsewhere(db) ? using(db, env, `the dashboard on port ${named}`) : env
  }
  if (existsSync(dirname(defaultDatabase))) return env
  const gateway = await onPort(port)
  if (gateway === null || !isElsewhere(gateway.db)) return env
  throw new OptionError(
    `${resolve(dirname(defaultDatabase))} does not exist, and the gateway on port ${port} (process ${gateway.pid}) has its files elsewhere: ` +
      `--db ${defaultDatabase} means this folder, --db ${gateway.db} means that gateway`,
  )
}

function using(db: string, env: Environment, whose: string): Environment {
  console.error(`using ${db} of ${whose}; use --db for another`)
  return { ...env, [variable]: db }
}

function isElsewhere(db: string): boolean {
  return db !== resolve(defaultDatabase) && existsSync(dirname(db))
}

/** The report of the gateway in this folder, else of that on the default port; null without one. */
export async function runningGateway(env: Environment): Promise<HealthReport | null> {
  const client = new ControlClient(dirname(defaultDatabase))
  const here = await client.running(probeLimitMs)
  return here?.health ?? (await onPort(portIn(env)))
}

/** The report of the gateway on a port. Null also for another user's gateway, which hides its database's folder. */
async function onPort(port: number): Promise<HealthReport | null> {
  const { report } = await askHealth('127.0.0.1', port, probeLimitMs)
  return typeof report?.db === 'string' && isAbsolute(report.db) ? report : null
}

async function databaseOfDashboard(port: number): Promise<string | null> {
  const { findDashboard } = await import('./commands/dashboard-port.ts')
  const dashboard = await findDashboard(reachableOrigin('127.0.0.1', port))
  const status = dashboard?.status ?? null
  return status === null ? null : (status.health?.db ?? join(dirname(status.log_file), 'llm_telemetry.db'))
}

function portIn(env: Environment): number {
  return parseOptions({ port: gatewayOptionTable.port }, [], env).port
}

function namedIn({ env: variables }: OptionSpec<number>, env: Environment): boolean {
  return variables.some((name) => (env[name] ?? '') !== '')
}
