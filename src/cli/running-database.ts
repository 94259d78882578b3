import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { HealthReport } from '../api/health-report.ts'
import { ControlClient } from '../control/control-client.ts'
import { controlFolder } from '../control/control-folder.ts'
import { defaultDatabase, gatewayOptionTable } from '../options/gateway-options.ts'
import { envName } from '../options/option-spec.ts'
import { askHealth } from '../supervisor/gateway-port.ts'
import { type Environment, parseOptions } from './parse-options.ts'
import { WarningLines } from './terminal/warning-lines.ts'

/** One that stands still for a moment is there all the same: by another database nothing would be right. */
const probeLimitMs = 5000
const variable = envName('db')

/**
 * The environment for a command that goes by a database: if none was named and no gateway runs in this folder, but one on
 * the usual port, such as a demo, with that one's database in it. Which one it is, and what that gateway warns of, is said.
 */
export async function withRunningDatabase(argv: readonly string[], env: Environment): Promise<Environment> {
  const isNamed = argv.some((arg) => arg === '--db' || arg.startsWith('--db='))
  if (isNamed || (env[variable] ?? '') !== '') return env
  const found = await runningGateway(env)
  if (found === null) return env
  for (const line of new WarningLines().next(found.warnings)) console.error(line)
  if (found.db === resolve(defaultDatabase) || !existsSync(dirname(found.db))) return env
  console.error(`using ${found.db}, of the gateway that runs (process ${found.pid}); --db names another`)
  return { ...env, [variable]: found.db }
}

/** How the gateway is that runs in this folder, or else on the usual port. */
export async function runningGateway(env: Environment): Promise<HealthReport | null> {
  return (await inThisFolder()) ?? (await onUsualPort(env))
}

async function inThisFolder(): Promise<HealthReport | null> {
  const client = new ControlClient(controlFolder(dirname(defaultDatabase)))
  return (await client.running(probeLimitMs))?.health ?? null
}

/** Whoever is not the gateway's own user is not told of its database. */
async function onUsualPort(env: Environment): Promise<HealthReport | null> {
  const { port } = parseOptions({ port: gatewayOptionTable.port }, [], env)
  const { report } = await askHealth('127.0.0.1', port, probeLimitMs)
  return typeof report?.db === 'string' ? report : null
}
