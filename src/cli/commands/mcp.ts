import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { systemClock } from '../../call/clock.ts'
import { ControlClient } from '../../control/control-client.ts'
import { CodedError } from '../../lib/errors.ts'
import { serveTools } from '../../mcp/mcp-server.ts'
import { gatewayOptionTable } from '../../options/gateway-options.ts'
import { optionTable } from '../../options/option-spec.ts'
import { QueryProcess } from '../../query/query-process.ts'
import type { QueryQuestion } from '../../query/query-question.ts'
import { spawnQuery } from '../../query/spawn-query.ts'
import { childEnvironment } from '../../supervisor/child-environment.ts'
import { RawLogRelay } from '../../supervisor/raw-log-relay.ts'
import { database, flag } from '../option-rows.ts'
import { version } from '../package-version.ts'
import type { CommandRun } from '../parse-options.ts'
import { payloadFiles } from '../payload-files.ts'
import { runningGateway } from '../running-database.ts'

export const example = 'tokenweir mcp'
export const use = 'none'
export const table = optionTable({
  payloads: flag('also serve captured payloads'),
  db: database('file of the telemetry database (default: that of the running gateway)'),
  rawLogFile: gatewayOptionTable.rawLogFile,
})

/** `tokenweir mcp`: answers tools of the Model Context Protocol on standard input and output. */
export const run: CommandRun<typeof table> = async (options, { env }) => {
  const clock = systemClock
  const onFault = (error: unknown): void =>
    console.error('tokenweir: internal error in mcp, continuing:', error)
  let open: { readonly db: string; readonly queries: QueryProcess } | null = null
  /** The gateway is searched for each question, because another one may start while an agent runs. */
  const database = async (): Promise<string> => {
    if (options.setBy.db !== null) return options.db
    const path = (await runningGateway(env))?.db ?? options.db
    return existsSync(path) ? path : options.db
  }
  const control = async (): Promise<ControlClient> => new ControlClient(dirname(await database()))
  const ask = async <Answer>(question: QueryQuestion): Promise<Answer> => {
    const db = await database()
    if (open?.db !== db) {
      open?.queries.close()
      open = {
        db,
        queries: new QueryProcess({ clock, spawn: spawnQuery(db, childEnvironment(env)), onFault }),
      }
    }
    const outcome = await open.queries.ask(question)
    if (outcome.kind === 'answer') return JSON.parse(Buffer.from(outcome.body).toString()) as Answer
    if (outcome.kind === 'refused') throw new CodedError(outcome.code, outcome.message)
    throw new CodedError(outcome.code, 'Could not read the database; try again.')
  }
  serveTools({
    version,
    hasPayloads: options.payloads,
    onFault,
    sources: {
      ask,
      now: () => clock.wallTime(),
      gateway: async () => {
        const client = await control()
        const status = await client.status().catch(() => 'noReply' as const)
        if (status === 'noReply') return { running: true, message: 'The gateway is not responding.' }
        const health = status === 'notRunning' ? await runningGateway(env) : status.health
        if (health === null)
          return { running: false, message: 'No gateway is running. Start one with `tokenweir up`.' }
        const live = await client.live().catch(() => 'notRunning' as const)
        const { calls = null, more = null } = typeof live === 'object' ? live : {}
        return { running: true, ...health, calls_under_way: calls, more_calls_under_way: more }
      },
      payloads: async () => {
        const files = payloadFiles(resolve(options.rawLogFile), () => 'all')
        return new RawLogRelay({ client: await control(), files, clock, onFault }).readState()
      },
    },
  })
  process.stdin.once('close', () => open?.queries.close())
}
