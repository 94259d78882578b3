import { dirname, join, resolve } from 'node:path'
import { systemClock } from '../call/clock.ts'
import { ControlClient } from '../control/control-client.ts'
import { makeControlFolder } from '../control/control-folder.ts'
import { DashboardServer } from '../dashboard/dashboard-server.ts'
import { priceWriter } from '../dashboard/routes/price-writer.ts'
import { formatBytes } from '../lib/format-bytes.ts'
import { clearPayloads } from '../payloads/file/clear-payloads.ts'
import { PayloadReader } from '../payloads/file/payload-reader.ts'
import { priceFileOf } from '../pricing/price-file.ts'
import { isLoopbackBind } from '../lib/request-source.ts'
import { ThisMachine } from '../lib/this-machine.ts'
import type { DashboardValues } from '../options/dashboard-options.ts'
import type { Options } from '../options/option-spec.ts'
import { QueryProcess } from '../query/query-process.ts'
import { spawnQuery } from '../query/spawn-query.ts'
import { childEnvironment } from '../supervisor/child-environment.ts'
import { DatabaseJobs } from '../supervisor/database-jobs.ts'
import { PriceSyncJob } from '../supervisor/price-sync-job.ts'
import { GatewayConfig, SettingError, leadsTo } from '../supervisor/gateway-config.ts'
import { LogFile } from '../supervisor/log-file.ts'
import { type PayloadFiles, RawLogRelay } from '../supervisor/raw-log-relay.ts'
import { SupervisedGateway } from '../supervisor/supervised-gateway.ts'
import { readAdminToken } from './admin-token.ts'
import { costsCommand, databaseCommand, gatewayCommand } from './gateway-command.ts'
import { type Environment, OptionError } from './parse-options.ts'

/** The parts of a dashboard, put together: its server, and the gateway that it starts and stops. */
export class RunningDashboard {
  readonly gateway: SupervisedGateway
  /** The port it got. */
  readonly port: number
  /** A path that signs a browser in, once; `null` where nobody has to sign in. */
  readonly signInPath: string | null
  readonly #server: DashboardServer
  readonly #queries: QueryProcess
  readonly #jobs: DatabaseJobs
  readonly #sync: PriceSyncJob

  private constructor(
    server: DashboardServer,
    queries: QueryProcess,
    jobs: DatabaseJobs,
    sync: PriceSyncJob,
    gateway: SupervisedGateway,
    port: number,
    demandsToken: boolean,
  ) {
    this.#server = server
    this.#queries = queries
    this.#jobs = jobs
    this.#sync = sync
    this.gateway = gateway
    this.port = port
    this.signInPath = demandsToken ? server.signInLink() : null
  }

  /** Listens. Rejects with {@link OptionError}, and with the socket's error where the port cannot be had. */
  static async open(
    options: Options<DashboardValues>,
    env: Environment,
    { simulated }: { readonly simulated: boolean },
  ): Promise<RunningDashboard> {
    const adminToken = readAdminToken(options.adminTokenFile, env)
    const demandsToken = !options.trustLoopback || !isLoopbackBind(options.dashboardHost)
    if (demandsToken && adminToken === null) throw new OptionError(needsToken(options))
    const own = { port: options.dashboardPort }
    if (leadsTo(options.upstream, own)) {
      throw new OptionError(`--upstream must not be the dashboard itself; got ${options.upstream}`)
    }
    const folder = makeControlFolder(dirname(options.db))
    const config = new GatewayConfig(
      options,
      join(folder, 'gateway.json'),
      own,
      (env['UPSTREAM_API_KEY'] ?? '') !== '',
    )
    checkSettings(config)
    const log = new LogFile(join(folder, 'proxy.log'))
    const gateway = new SupervisedGateway({
      config,
      folder,
      logFile: log,
      clock: systemClock,
      env,
      command: gatewayCommand,
      adminToken,
      simulated,
    })
    const onFault = (error: unknown): void =>
      console.error('tokenweir: a fault of the dashboard, which goes on:', error)
    const queries = new QueryProcess({
      clock: systemClock,
      spawn: spawnQuery(options.db, childEnvironment(env, { upstreamIsTrusted: false, adminToken: null })),
      onFault,
    })
    const jobs = new DatabaseJobs({ command: databaseCommand, db: options.db, env, clock: systemClock })
    const rawLog = new RawLogRelay({
      client: new ControlClient(folder),
      files: payloadFiles(options.rawLogFile, options.rawLogCapture),
      clock: systemClock,
      onFault,
    })
    const sync = new PriceSyncJob({
      command: costsCommand,
      db: options.db,
      source: options.pricingSource,
      env,
      clock: systemClock,
    })
    const server = new DashboardServer({
      process: gateway,
      log,
      queries,
      rawLog,
      jobs,
      sync,
      prices: priceWriter(priceFileOf(options.db), systemClock),
      adminToken,
      thisMachine: new ThisMachine(options.trustLoopback),
      demandsToken,
      allowedHosts: options.allowHost,
      clock: systemClock,
      onFault,
    })
    try {
      const port = await server.listen(options.dashboardPort, options.dashboardHost)
      own.port = port
      queries.start()
      return new RunningDashboard(server, queries, jobs, sync, gateway, port, demandsToken)
    } catch (error) {
      gateway.close()
      throw error
    }
  }

  /** The gateway goes on, and so does a job on the database. */
  async close(): Promise<void> {
    this.gateway.close()
    this.#jobs.close()
    this.#sync.close()
    this.#queries.close()
    await this.#server.close()
  }
}

/** A wrong value in `gateway.json` stops the start, as one on the command line does. */
function checkSettings(config: GatewayConfig): void {
  try {
    config.resolve()
  } catch (error) {
    throw error instanceof SettingError ? new OptionError(error.message) : error
  }
}

function needsToken({ dashboardHost, trustLoopback }: DashboardValues): string {
  const how = 'set TOKENWEIR_ADMIN_TOKEN or --admin-token-file first'
  return trustLoopback
    ? `the dashboard on ${dashboardHost} could be reached from other machines: ${how}, or leave it on 127.0.0.1`
    : `with --trust-loopback off the dashboard takes the admin token alone: ${how}`
}

/** The files of payloads as they are while no gateway runs. */
function payloadFiles(file: string, capture: string): PayloadFiles {
  const filePath = resolve(file)
  return {
    status: () => {
      const bytes = bytesOf(filePath)
      return {
        enabled: false,
        enabled_until: null,
        capture,
        file_path: filePath,
        file_size_bytes: bytes,
        file_size_formatted: formatBytes(bytes),
        subscribers_count: 0,
        dropped: 0,
        trouble: null,
      }
    },
    clear: async () => clearPayloads(filePath),
  }
}

/** What cannot be looked at counts as nothing. */
function bytesOf(filePath: string): number {
  try {
    return new PayloadReader(filePath).fileBytes()
  } catch {
    return 0
  }
}
