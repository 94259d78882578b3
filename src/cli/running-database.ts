import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import type { HealthReport } from '../api/health-report.ts'
import { ControlClient } from '../control/control-client.ts'
import { ownOptionTable } from '../options/dashboard-options.ts'
import { defaultDatabase, gatewayOptionTable } from '../options/gateway-options.ts'
import type { OptionSpec } from '../options/option-spec.ts'
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

/** The options of a command, with the database that it uses. Rejects with {@link OptionError}. */
export async function withDatabase<Given extends { readonly setBy: Readonly<Record<string, string | null>> }>(
  use: FolderUse,
  options: Given,
  env: Environment,
): Promise<Given> {
  if (options.setBy['db'] !== null) return options
  const found = await (use === 'acts' ? forActing(env) : forReading(env))
  if (found === null || !isElsewhere(found.db)) return options
  console.error(`using ${found.db} of ${found.owner}; use --db for another`)
  return { ...options, db: found.db }
}

/** A database, and the process that uses it. */
interface FoundDatabase {
  readonly db: string
  readonly owner: string
}

/** The database for a command that reads: that of the gateway in this folder, else of that on the default port. */
async function forReading(env: Environment): Promise<FoundDatabase | null> {
  const gateway = await runningGateway(env)
  if (gateway === null) return null
  for (const line of new WarningLines().next(gateway.warnings)) console.error(line)
  return { db: gateway.db, owner: `the running gateway (process ${gateway.pid})` }
}

/**
 * The database for a command that changes files: this folder's or a named one, never that of the gateway on the
 * default port.
 */
async function forActing(env: Environment): Promise<FoundDatabase | null> {
  const port = portIn(env)
  if (namedIn(gatewayOptionTable.port, env)) {
    const gateway = await onPort(port)
    if (gateway !== null) return { db: gateway.db, owner: `the gateway on port ${port}` }
  }
  if (namedIn(ownOptionTable.dashboardPort, env)) {
    const { dashboardPort: named } = parseOptions({ dashboardPort: ownOptionTable.dashboardPort }, [], env)
    const db = await databaseOfDashboard(named)
    if (db !== null) return { db, owner: `the dashboard on port ${named}` }
  }
  if (existsSync(dirname(defaultDatabase))) return null
  const gateway = await onPort(port)
  if (gateway === null || !isElsewhere(gateway.db)) return null
  throw new OptionError(
    `${resolve(dirname(defaultDatabase))} does not exist, and the gateway on port ${port} (process ${gateway.pid}) has its files elsewhere: ` +
      `--db ${defaultDatabase} means this folder, --db ${gateway.db} means that gateway`,
  )
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
