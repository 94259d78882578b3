import { dirname, join, resolve } from 'node:path'
import { systemClock } from '../call/clock.ts'
import { ControlClient } from '../control/control-client.ts'
import { makeControlFolder } from '../control/control-folder.ts'
import type { AlertReceiver } from '../alerts/alert-request.ts'
import { AlertService } from '../alerts/alert-service.ts'
import type { AlertWebhook } from '../alerts/alert-settings.ts'
import { makeDashboardServer } from '../dashboard/dashboard-server.ts'
import { priceFileOf } from '../pricing/price-file.ts'
import { isLoopbackBind } from '../lib/http/request-source.ts'
import { ThisMachine } from '../lib/this-machine.ts'
import type { DashboardValues } from '../options/dashboard-options.ts'
import { SettingError } from '../options/gateway-settings.ts'
import type { Options } from '../options/option-spec.ts'
import { QueryProcess } from '../query/query-process.ts'
import { spawnQuery } from '../query/spawn-query.ts'
import type { ShareProcess } from '../share/rows/share-process.ts'
import { databasePlace } from '../store/sqlite/older-proxy.ts'
import { childEnvironment } from '../supervisor/child-environment.ts'
import { Jobs } from '../supervisor/jobs.ts'
import { Clients } from '../supervisor/clients.ts'
import { NotesFile } from '../supervisor/notes-file.ts'
import { Upstreams } from '../supervisor/upstreams.ts'
import { isOwnAddress } from '../options/own-address.ts'
import { GatewayConfig } from '../supervisor/gateway-config.ts'
import { LogFile } from '../supervisor/log-file.ts'
import { RawLogRelay } from '../supervisor/raw-log-relay.ts'
import { SupervisedGateway } from '../supervisor/supervised-gateway.ts'
import { readReceiver } from './alert-receiver.ts'
import { readAdminToken } from './admin-token.ts'
import { checkUpstream } from './doctor/check-upstream.ts'
import { gatewayCommand, ownCommand } from './gateway-command.ts'
import { type Environment, OptionError } from './parse-options.ts'
import { shareAddress, shareRows } from './share-rows.ts'
import { listModels } from './list-models.ts'
import { payloadFiles } from './payload-files.ts'

/** A dashboard that listens, and the gateway that it starts and stops. */
export interface RunningDashboard {
  readonly gateway: SupervisedGateway
  /** The port on which the dashboard listens. */
  readonly port: number
  /** A path that signs a browser in, once; `null` if the dashboard needs no sign-in. */
  readonly signInPath: string | null
  /** Stops the dashboard. The gateway and a job on the database run on. */
  close(): Promise<void>
}

/** Time limit for a connection to a tested address. */
const testLimitMs = 5000
/** Time limit for the default upstream's list of models. */
const listLimitMs = 3000
const mostModels = 1000

/** Opens a dashboard. Rejects with {@link OptionError}, or with the socket's error if it cannot listen. */
export async function openDashboard(
  options: Options<DashboardValues>,
  env: Environment,
  { simulated, report }: { readonly simulated: boolean; readonly report: (line: string) => void },
): Promise<RunningDashboard> {
  const { db, pricingSource, trustLoopback, upstream, dashboardHost, dashboardPort } = options
  const clock = systemClock
  const adminToken = readAdminToken(options.adminTokenFile, env)
  const demandsToken = !trustLoopback || !isLoopbackBind(dashboardHost)
  if (demandsToken && adminToken === null) throw new OptionError(needsToken(options))
  const address = { port: dashboardPort }
  if (isOwnAddress(upstream, [dashboardPort])) {
    throw new OptionError(`--upstream must not be the dashboard itself; got ${upstream}`)
  }
  const { path: ownDb } = databasePlace(db)
  if (options.share) shareAddress(env)
  const folder = makeControlFolder(dirname(db))
  const hasKey = (env['UPSTREAM_API_KEY'] ?? '') !== ''
  const config = new GatewayConfig(options, join(folder, 'gateway.json'), address, hasKey)
  try {
    config.resolve()
  } catch (error) {
    // A wrong value in `gateway.json` stops the start, like one on the command line.
    throw error instanceof SettingError ? new OptionError(error.message) : error
  }
  const logFile = new LogFile(join(folder, 'proxy.log'))
  const command = gatewayCommand
  const gateway = new SupervisedGateway({
    config,
    folder,
    logFile,
    clock,
    env,
    command,
    adminToken,
    simulated,
  })
  const onFault = (error: unknown): void =>
    console.error('tokenweir: internal error in the dashboard, continuing:', error)
  const queries = new QueryProcess({ clock, spawn: spawnQuery(ownDb, childEnvironment(env)), onFault })
  const jobs = new Jobs({ command: ownCommand, db: ownDb, pricingSource, env, clock })
  jobs.watch(() => queries.forgetAnswers())
  const files = payloadFiles(resolve(options.rawLogFile), () => {
    try {
      return config.resolve().rawLogCapture
    } catch {
      // The file of settings broke since the start; the Settings view reports it.
      return options.rawLogCapture
    }
  })
  const rawLog = new RawLogRelay({ client: new ControlClient(folder), files, clock, onFault })
  let alerts: AlertService | null = null
  // Created at the first request for alerts, or the first check of the rules.
  const alertService = (): AlertService => (alerts ??= startAlerts())
  const startAlerts = (): AlertService => {
    const everyMs = options.alertEveryS * 1000
    const receiverOf = (saved: AlertWebhook | undefined): AlertReceiver | null =>
      readReceiver(options, env, saved)
    const warn = (line: string): void => console.error(`tokenweir: ${line}`)
    const service = new AlertService({ folder, clock, everyMs, gateway, queries, receiverOf, warn })
    service.start()
    return service
  }
  let share: ShareProcess | null = null
  // The PostgreSQL client is loaded only for a shared database, and before the first request.
  const sharing = options.share ? await import('../share/slots/gateway-list.ts') : null
  const copy = (): ShareProcess['copy'] => share?.copy ?? null
  const gateways =
    sharing === null
      ? null
      : new sharing.GatewayList({ url: shareAddress(env), folder: dirname(db), clock, copy })
  const server = makeDashboardServer({
    process: gateway,
    log: logFile,
    queries,
    rawLog,
    jobs,
    alerts: alertService,
    clients: new Clients(dirname(db)),
    notes: new NotesFile(folder),
    upstreams: new Upstreams({
      dataFolder: dirname(db),
      file: options.upstreamFile,
      upstream: options.upstream,
      dashboard: address,
      gatewayPort: options.port,
    }),
    models: async () => {
      const { upstream: url } = await gateway.status()
      const request = { url, keyHeader: [], connectTimeoutMs: listLimitMs, limitMs: listLimitMs }
      const response = await listModels(request, env).catch(() => null)
      return (response?.names ?? []).slice(0, mostModels)
    },
    testUpstream: async (url) => {
      const findings = await checkUpstream({ url, key: '', connectTimeoutMs: testLimitMs }, env)
      const finding = findings.find(({ check, state }) => check === 'upstream' || state === 'fault')
      return { ok: finding?.state !== 'fault', detail: finding?.message ?? `${url}: nothing is known` }
    },
    gateways,
    priceFile: priceFileOf(db),
    adminToken,
    thisMachine: new ThisMachine(trustLoopback),
    demandsToken,
    allowedHosts: options.allowHost,
    clock,
    onFault,
  })
  try {
    address.port = await server.listen(dashboardPort, dashboardHost)
  } catch (error) {
    gateway.close()
    throw error
  }
  gateway.restartAfterCrash(report)
  queries.start()
  share = shareRows(options, env, { pulls: true }, (line) => console.log(`tokenweir: ${line}`))
  const cancelFirstLook = clock.after(options.alertEveryS * 1000, alertService, { background: true })
  return {
    gateway,
    port: address.port,
    signInPath: demandsToken ? server.signInLink() : null,
    close: async () => {
      cancelFirstLook()
      for (const part of [alerts, gateways, gateway, jobs, queries]) part?.close()
      await Promise.all([share?.close(), server.close()])
    },
  }
}

function needsToken({ dashboardHost, trustLoopback }: DashboardValues): string {
  const how = 'set TOKENWEIR_ADMIN_TOKEN or --admin-token-file first'
  return trustLoopback
    ? `the dashboard on ${dashboardHost} would be reachable from other machines: ${how}, or keep it on 127.0.0.1`
    : `with --trust-loopback off the dashboard takes the admin token alone: ${how}`
}
