import { exitCode } from '../exit-code.ts'
import { systemClock } from '../../call/clock.ts'
import { listen, makeServer, portOf } from '../../gateway/http/listen.ts'
import { gatewayCommandTable } from '../../options/dashboard-options.ts'
import { parseUpstreamBase } from '../../gateway/http/target.ts'
import { proxyFor } from '../../gateway/upstream/upstream-proxy.ts'
import type { GatewayOptions } from '../../options/gateway-options.ts'
import { keyOfDefault } from '../../options/upstream-key.ts'
import { askHealth } from '../../supervisor/gateway-port.ts'
import { readAdminToken } from '../admin-token.ts'
import { listenProblem } from '../listen-problem.ts'
import { type CommandRun, OptionError } from '../parse-options.ts'
import { Predecessor, listenOnceFree } from '../../gateway/handover/predecessor.ts'
import { startedBy } from '../../control/spawn-gateway.ts'
import { traceSettings } from '../../traces/trace-settings.ts'
import type { GatewayLog } from '../../gateway/process/gateway-parts.ts'
import { RunningGateway } from '../../gateway/process/running-gateway.ts'
import { databasePlace } from '../../store/sqlite/older-proxy.ts'
import { joinOthers } from '../join-others.ts'
import { shareAddress } from '../share-rows.ts'
import { version } from '../package-version.ts'
import { startLines } from '../terminal/start-lines.ts'
import { WarningLines } from '../terminal/warning-lines.ts'
import { reportFault } from '../../lib/fault.ts'

export const example = 'tokenweir gateway --host 127.0.0.1 --max-concurrent 2'
export const use = 'serves'
export const table = gatewayCommandTable

const pollMs = 1000
/** Time limit for the process on the port to answer. */
const probeLimitMs = 5000

/** Prints the gateway's messages on standard output, and its complaints on standard error. */
const gatewayLog: GatewayLog = {
  say: (line) => console.log(line),
  complain: (line, ...errors) => console.error(`tokenweir: ${line}`, ...errors),
}

/** `tokenweir gateway`: runs until it is stopped, and then sets the process's exit code. */
export const run: CommandRun<typeof table> = async (options, { env }) => {
  if (options.share) shareAddress(env)
  // The output is a log. If the log cannot be written, as on a full disk, the gateway continues.
  process.stdout.removeAllListeners('error').on('error', () => {})
  if (!process.stdout.isTTY) stampLog()
  const adminToken = readAdminToken(options.adminTokenFile, env)
  const proxy = proxyFor(parseUpstreamBase(options.upstream).origin, env)
  const traces = isTraced(options) ? traceSettings(options, env) : null
  const origin = startedBy(env)
  const search = await Predecessor.find(env)
  if (search === 'unknown') {
    throw new OptionError('the running gateway is too old to hand over')
  }
  const predecessor = search === 'gone' ? null : search
  const sharedPort = predecessor?.portFor(options.host, options.port) ?? null
  const bind = search === 'gone' ? listenOnceFree : listen
  const server =
    sharedPort === null
      ? await bind(options.port, options.host).catch((error: unknown) => reportListenError(error, options))
      : makeServer()
  if (server === null) return
  const port = sharedPort ?? portOf(server)
  // No other await may come between here and the gateway, because a request without a listener is never
  // answered.
  const { limit, share } = await joinOthers(options, env, server, (line) => gatewayLog.say(line))
  const gateway = new RunningGateway({
    listener: { server, port },
    options,
    secrets: {
      adminToken,
      upstreamKey: keyOfDefault(options.upstream, env),
      proxyFor: (origin) => proxyFor(origin, env),
      variable: (name) => env[name],
      traces,
    },
    version,
    clock: systemClock,
    log: gatewayLog,
    handover: predecessor?.handover ?? null,
    startedBy: origin,
    limit,
    share,
  })
  stopOnSignals(gateway)
  const lines = new WarningLines()
  const printWarnings = (): void => {
    for (const line of lines.next(gateway.warnings)) console.error(line)
  }
  // Losses at the end, such as spans, are known only now.
  gateway.ended
    .finally(printWarnings)
    .then(() => process.exit(process.exitCode ?? 0))
    .catch(reportFault)
  const controlError = await gateway.openControl()
  if (controlError !== null) console.error(`tokenweir: no dashboard controls this gateway: ${controlError}`)
  gateway.keepControl()
  if (predecessor !== null && controlError !== null) {
    // The predecessor continues.
    process.exitCode = exitCode.fault
    gateway.abortStart()
    return
  }
  if (predecessor !== null) gateway.follow(predecessor)
  if (predecessor !== null && sharedPort !== null) {
    try {
      // The last step: from here on calls come in, and the predecessor cannot take them back.
      await predecessor.listen(server, options.host)
    } catch (error) {
      await reportListenError(error, options)
      gateway.abortStart()
      return
    }
  }
  for (const line of startLines({ ...options, ...limit?.settings }, port, gateway.hasGatewayKey, proxy))
    console.log(line)
  if (traces !== null) console.log(`  a span of each call goes to ${traces.url}`)
  announceRecording(gateway, databasePlace(options.db).path, printWarnings)
  // The dashboard that started this process waits for this message. An error means that it has ended.
  process.send?.({ ready: true, controlled: controlError === null }, undefined, undefined, () => {})
}

/** Prints that calls are recorded, once they are, and each warning as it comes. */
function announceRecording(gateway: RunningGateway, db: string, printWarnings: () => void): void {
  const poll = (): void => {
    printWarnings()
    systemClock.after(pollMs, poll, { background: true })
  }
  systemClock.after(0, poll, { background: true })
  const onRecorded = (): void => {
    if (!gateway.isStopping) console.log(`calls are recorded in ${db}`)
  }
  gateway.records().then(onRecorded).catch(reportFault)
}

/** Begins each log line with its time (ISO 8601, UTC) and the process id, because two gateways may write to the log. */
function stampLog(): void {
  for (const name of ['log', 'error'] as const) {
    const write = console[name].bind(console)
    console[name] = (...parts: readonly unknown[]) =>
      write(`${new Date(systemClock.wallTime()).toISOString()} [${process.pid}]`, ...parts)
  }
}

/**
 * Stops on signals: the first stops after calls in flight, the second at once. An internal error is printed
 * and stops like the first.
 */
function stopOnSignals(gateway: RunningGateway): void {
  const onSignal = (): void => {
    if (gateway.isStopping) process.exit(exitCode.fault)
    gateway.stop()
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal)
  process.on('uncaughtException', (error) => {
    console.error('tokenweir: internal error in the gateway, stopping:', error)
    process.exitCode = exitCode.fault
    gateway.fail()
  })
}

function isTraced({ otlpEndpoint, otlpTracesEndpoint }: GatewayOptions): boolean {
  return otlpEndpoint !== 'none' || otlpTracesEndpoint !== 'none'
}

/** Prints why the gateway cannot listen, and sets the exit code. */
async function reportListenError(error: unknown, { host, port }: GatewayOptions): Promise<null> {
  const problem = listenProblem(error, host, port, '--port')
  process.exitCode = problem.exitCode
  console.error(`tokenweir: ${problem.message}`)
  if (problem.exitCode !== exitCode.portInUse) return null
  const { report } = await askHealth(host, port, probeLimitMs)
  if (report !== null) console.error(`  used by a gateway: process ${report.pid}, database ${report.db}`)
  return null
}
