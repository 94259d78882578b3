import { randomInt } from 'node:crypto'
import { dirname, extname, join, resolve } from 'node:path'
import type { HealthReport } from '../../api/health-report.ts'
import { CallIds } from '../../call/call-id.ts'
import type { Warning } from '../../call/call-sink.ts'
import { Failure } from '../../call/failure.ts'
import type { ObserverModule } from '../../call/row-observer.ts'
import type { Clock } from '../../call/clock.ts'
import { ControlClient } from '../../control/control-client.ts'
import { makeControlFolder } from '../../control/control-folder.ts'
import { messageOf } from '../../lib/errors.ts'
import { reportFault } from '../../lib/fault.ts'
import { ThisMachine } from '../../lib/this-machine.ts'
import type { GatewayOptions } from '../../options/gateway-options.ts'
import { patternMatcher } from '../../options/upstream-settings.ts'
import { upstreamsPath } from '../../options/upstreams-path.ts'
import { databasePlace } from '../../store/sqlite/older-proxy.ts'
import { takeInstanceNumber } from '../../store/sqlite/instance-number.ts'
import type { BuildInfo } from '../../metrics/metrics-observer.ts'
import { WriterThread } from '../../store/write/writer-thread.ts'
import type { SchemePorts } from '../../traces/call-span.ts'
import type { TraceObserverSettings } from '../../traces/traces-observer.ts'
import type { TraceSettings } from '../../traces/trace-settings.ts'
import { type LimitedGateway, SlotHolder, type SlotLink } from '../admission/slot-holder.ts'
import { type BudgetLink, SharedUsage } from '../admission/shared-usage.ts'
import { type HandedUse, TokenWindows } from '../admission/token-windows.ts'
import { type Owner, upstreamOwner } from '../admission/owner.ts'
import { SlotTally } from '../admission/slot-minute.ts'
import { type MinuteCounts, MinuteReport } from '../admission/minute-report.ts'
import { ClientLabels } from '../call/client-labels.ts'
import { CallHandler } from '../call/handle-call.ts'
import type { StartedBy } from '../../control/spawn-gateway.ts'
import type { Handover } from '../handover/handover.ts'
import { Restart } from '../handover/restart.ts'
import { sessionPlaces } from '../http/caller-headers.ts'
import { GatewayServer } from '../http/gateway-server.ts'
import { Health } from '../http/health.ts'
import { type Listener, maxHeaderBytes } from '../http/listen.ts'
import { type UpstreamBase, parseUpstreamBase } from '../http/target.ts'
import { TrustedClients } from '../http/trusted-clients.ts'
import type { UpstreamLimits } from '../limits/minute-limits.ts'
import { ProviderLimits } from '../limits/provider-limits.ts'
import type { SlotLimiter } from '../admission/slot-limiter.ts'
import type { Upstream } from '../routing/upstream.ts'
import { Upstreams } from '../routing/upstreams.ts'
import { UndiciTransport } from '../upstream/undici-transport.ts'
import type { Transport, TransportOptions } from '../upstream/transport.ts'
import type { UpstreamProxy } from '../upstream/upstream-proxy.ts'
import { GatewayMetrics } from './gateway-metrics.ts'
import { WatchedClients } from './watched-clients.ts'
import { CallsUnderWay } from './calls-under-way.ts'
import { watchSharedLimit } from './shared-limit-watch.ts'
import { installationSalt } from './installation-salt.ts'
import { GatewayRawLog } from './gateway-raw-log.ts'

/** Most bytes of request bodies in memory. */
const bodyMemoryBytes = 1024 ** 3
const instanceLetters = 'abcdefghjkmnpqrstvwxyz0123456789'
/** Characters of an instance's name. */
const instanceLength = 8

/** Secrets, which come from the environment and never from an argument. */
export interface GatewaySecrets {
  readonly adminToken: string | null
  readonly upstreamKey: string | null
  /** The proxy for an origin; null without one. A proxy's address may contain a password. */
  readonly proxyFor: (origin: string) => UpstreamProxy | null
  /** Reads a variable that the file of upstreams names. */
  readonly variable: (name: string) => string | undefined
  /** The receiver of spans; its headers may hold a key. `null` without one. */
  readonly traces: TraceSettings | null
}

/** Prints the gateway's lines. */
export interface GatewayLog {
  say(line: string): void
  /** Prints a complaint and, if there is one, the thrown error. */
  complain(line: string, error?: unknown): void
}

/** Everything that a gateway is made of. */
export interface GatewaySetup {
  readonly listener: Listener
  readonly options: GatewayOptions
  readonly secrets: GatewaySecrets
  readonly version: string
  readonly clock: Clock
  readonly log: GatewayLog
  /** The message of the gateway that this one replaces; null without one. */
  readonly handover: Handover | null
  readonly startedBy: StartedBy
  /** The limit that several gateways share; null without sharing. */
  readonly limit: SharedLimits | null
  /** Sends rows to the others; null without sharing. */
  readonly share: SharedRows | null
}

/** The limit that several gateways share. */
export interface SharedLimits extends SlotLink, BudgetLink {
  /** The budget: tokens of any 24 hours, and whether further calls are refused. */
  readonly settings: { readonly tokenLimit: number; readonly rejects: boolean }
  /** The name of this gateway in the shared database. */
  readonly instance: string
  /** The instance number in ids of calls, which no other gateway has. */
  readonly number: number
  readonly leaseMs: number
  attach(gateway: LimitedGateway): void
  status(): NonNullable<HealthReport['shared']>
  warnings(): readonly Warning[]
  /** Sets the number of slots of all gateways together. Rejects if the shared database does not save it. */
  setMax(maxConcurrent: number): Promise<void>
  /** Sets the budget of all gateways (tokens in any 24 hours). Rejects if the shared database does not save it. */
  setTokenLimit(tokenLimit: number): Promise<void>
  /** Frees all slots of this gateway. */
  close(): Promise<void>
}

/** The sending of this gateway's rows to other gateways and dashboards. */
export interface SharedRows {
  warnings(): readonly Warning[]
  /** Sends the waiting rows if possible, and stops. */
  close(): Promise<void>
}

/** The parts of a running gateway. */
export type GatewayParts = ReturnType<typeof makeGatewayParts>

/** Makes the parts of a gateway. `stop` stops the whole gateway. */
// oxlint-disable-next-line explicit-module-boundary-types -- what is returned is the one list of the parts
export function makeGatewayParts(setup: GatewaySetup, stop: (withinMs: number) => void) {
  const { listener, options, secrets, version, clock, log, handover, limit } = setup
  const instance = limit?.instance ?? newInstance()
  const { path: dbPath, olderProxy } = databasePlace(options.db)
  const dataFolder = dirname(dbPath)
  const controlFolder = makeControlFolder(dataFolder)
  const number = takeInstanceNumber(dataFolder)
  const { salt, warning: saltWarning } = installationSalt(join(dataFolder, '.salt'))

  const { traces } = secrets
  /** The ports of hosts, by upstream, for spans. A former host stays, because calls may still run there. */
  const schemePorts: Record<string, SchemePorts[string]> = {
    default: schemePortsOf([parseUpstreamBase(options.upstream)]),
  }
  const build: BuildInfo = { version, instance }
  const observers: ObserverModule[] = []
  if (options.metrics) observers.push(observerModule('metrics', build))
  if (traces !== null) {
    const settings: TraceObserverSettings = { ...traces, ...build, schemePorts }
    observers.push(observerModule('traces', settings))
  }
  const sink = new WriterThread({ dbPath, olderProxy, instance, number, version, observers })
  const tally = new SlotTally()
  const slotOptions = { ...options, tally }
  const trusted = new TrustedClients(new ThisMachine(options.trustLoopback), secrets.adminToken, clock)
  const connect = (origin: string): Transport => {
    let proxy: TransportOptions['proxy']
    try {
      proxy = secrets.proxyFor(origin)
    } catch (error) {
      // An upstream can be added at any time, and the variable of its proxy is read only then.
      const reason = `${origin} cannot be reached: ${messageOf(error)}.`
      log.complain(`the upstream ${reason}`)
      proxy = new Failure('upstream_unreachable', `The upstream ${reason}`)
    }
    return new UndiciTransport(origin, { ...options, maxHeaderBytes, proxy })
  }
  const upstreams = new Upstreams({
    url: options.upstream,
    maxRpm: options.maxRpm,
    maxTpm: options.maxTpm,
    defaultKey: secrets.upstreamKey,
    path: upstreamsPath(options.upstreamFile, dataFolder),
    ownPorts: [listener.port],
    variable: secrets.variable,
    clock,
    isShared: limit !== null,
    admission: slotOptions,
    connect,
    injectsUsage: options.usageInjection === 'auto',
  })
  const { admission } = upstreams.default
  const admissions = () => Array.from(upstreams.all(), (upstream) => upstream.admission)
  const minutes = new MinuteReport({ clock, sink, counts: (closes) => minuteOf(admissions(), tally, closes) })
  const tokens = new TokenWindows({
    clock,
    rejects: limit?.settings.rejects ?? options.budgetAction === 'reject',
    tokenLimit: options.tokenLimit,
    sharedLimit: limit?.settings.tokenLimit ?? null,
    past: sink,
    keyNames: () => clients.names,
  })
  const sharedUsage = limit === null ? null : new SharedUsage(clock, limit, tokens.acrossGateways)
  const clients = new WatchedClients({
    folder: dataFolder,
    admissions,
    usedBy: (owner) => tokens.usedBy(owner),
  })

  const sharedSlots =
    limit === null ? null : new SlotHolder({ admission, clock, holder: instance, leaseMs: limit.leaseMs })
  const providerLimits = new ProviderLimits({
    clock,
    learnsLimits: options.pace === 'learn',
    admissions,
    ofUpstreams: () => Array.from(upstreams.all(), minuteLimitsOf),
    ofClients: () => clients.minuteLimits,
    isShared: limit !== null,
    isSuccessor: handover !== null,
    recentCalls: (sinceMs) => sink.recentCalls(sinceMs),
  })
  const restart = new Restart({
    limiters: () => upstreams.all(),
    tokens,
    minutes: providerLimits.acrossRestarts,
    clock,
    instance,
    successor: new ControlClient(controlFolder),
    handover,
    rawLog: () => rawLog.handover(),
    listener,
    host: options.host,
    freePort: () => {
      server.stopListening().catch(reportFault)
    },
    onStop: stop,
    onRawLog: (to) => rawLog.follow(to),
    onAsk: (cancel) => underWay.answer(cancel),
  })
  tokens.restore(handover).catch(reportFault)
  const sendSchemePorts = (): void => {
    for (const { name, setting } of upstreams.others()) {
      schemePorts[name] = { ...schemePorts[name], ...schemePortsOf(setting.urls.map(parseUpstreamBase)) }
    }
    // If the thread restarts, its settings have these ports.
    sink.ask('traces', JSON.stringify(schemePorts)).catch(() => undefined)
  }
  const limitTokens = (usedBefore: HandedUse['usedByOwners'] = []): void => {
    tokens.setLimits(new Map([...clients.tokenLimits, ...tokenLimits(upstreams)]), usedBefore)
  }
  const onUpstreams = (): void => {
    restart.refreshUpstreams()
    clients.limitSlots()
    if (traces !== null) sendSchemePorts()
  }
  clients.onChange = () => {
    limitTokens()
    providerLimits.refresh()
  }
  upstreams.onChange = () => {
    onUpstreams()
    limitTokens()
    providerLimits.refresh()
  }
  onUpstreams()
  limitTokens(handover?.usedByOwners)
  const rawLog = new GatewayRawLog({
    values: options,
    salt,
    idBits: number.value,
    clock,
    inherited: handover?.rawLog ?? null,
    onSwitched: (to) => restart.oldGateways.switchRawLog(to),
  })

  const knownPlaces = sessionPlaces(options.sessionHeader)
  const ids = new CallIds(() => clock.wallTime(), limit?.number ?? number.value, { isShared: limit !== null })
  const calls = new CallHandler({
    clock,
    instance,
    ids,
    labels: new ClientLabels(salt, (fingerprint) => clients.nameOf(fingerprint)),
    tokens,
    providerLimits,
    sessionPlaces: knownPlaces,
    upstreams,
    retry429Max: options.retry429Max,
    trusted,
    sink,
    rawLog: rawLog.log,
    limits: { maxBodyBytes: options.maxBodyMb * 1_000_000, maxHeldBytes: bodyMemoryBytes, heldBytes: 0 },
    clientStallTimeoutMs: options.clientStallTimeoutMs,
    via: options.via,
    onFault: (error) => log.complain('internal error in the gateway, continuing:', error),
  })
  const underWay = new CallsUnderWay({ calls, admissions, clock, oldGateways: restart.oldGateways })
  const health = new Health({
    clock,
    dbPath: resolve(dbPath),
    instance,
    version,
    tally,
    tokens,
    providerLimits,
    clients,
    upstreams,
    ofStart: saltWarning === null ? [] : [saltWarning],
    sink,
    rawLog: rawLog.log,
    share: setup.share,
    limit,
  })
  const server = new GatewayServer(listener.server, {
    calls,
    upstreams,
    health,
    rawLog: rawLog.routes,
    metrics: options.metrics
      ? new GatewayMetrics(clock, (of, text) => sink.ask(of, text), traces !== null)
      : null,
    trusted,
    allowedHosts: options.allowHost,
    sessionPlaces: knownPlaces,
  })
  let endGuard = (): void => {}
  if (limit !== null && sharedSlots !== null) {
    limit.attach({
      figures: () => ({ ...admission.snapshot(), held: sharedSlots.usable }),
      wake: () => sharedSlots.sync(),
      limit: (maxConcurrent) => admission.setCapacity(maxConcurrent),
      shareWith: (gateways) => providerLimits.divide(gateways),
      number: (number) => ids.renumber(number),
    })
    admission.watch(() => sharedSlots.changed())
    sharedSlots.connect(limit)
    const cutsCalls = options.shareLost === 'cut'
    endGuard = watchSharedLimit({ clock, admission, slots: sharedSlots, calls, cutsCalls })
  }
  return {
    endGuard,
    instance,
    controlFolder,
    sink,
    admission,
    admissions,
    minutes,
    tokens,
    sharedUsage,
    clients,
    restart,
    rawLog,
    upstreams,
    calls,
    underWay,
    health,
    server,
  }
}

/** The counts of a gateway's minute. The time at the limit is that of the fullest upstream. */
function minuteOf(admissions: readonly SlotLimiter[], tally: SlotTally, isOver: boolean): MinuteCounts {
  return {
    ...tally.minute(isOver),
    atLimitMs: Math.max(...admissions.map((admission) => admission.atLimitMs(isOver))),
  }
}

/** Token limits of upstreams with own limits, also of removed ones, because their calls may still wait. */
function tokenLimits(upstreams: Upstreams): ReadonlyMap<Owner, number> {
  const limits = new Map<Owner, number>()
  for (const { name, setting } of upstreams.all())
    if (setting.token_limit !== undefined) limits.set(upstreamOwner(name), setting.token_limit)
  return limits
}

/** Limits a minute of an upstream, and of its models. */
function minuteLimitsOf({ name, setting }: Upstream): UpstreamLimits {
  const { max_rpm, max_tpm, limits = {} } = setting
  const models = Object.entries(limits).map(([pattern, { rpm, tpm }]) => {
    return { pattern, takes: patternMatcher(pattern), max_rpm: rpm, max_tpm: tpm }
  })
  return { name, max_rpm, max_tpm, models }
}

/** An observer of rows, which the writer's thread loads by its URL: source or built, like this file. */
function observerModule(name: 'metrics' | 'traces', settings: unknown): ObserverModule {
  const file = `../../${name}/${name}-observer${extname(import.meta.url)}`
  return { name, url: new URL(file, import.meta.url).href, settings }
}

function schemePortsOf(bases: readonly UpstreamBase[]): SchemePorts[string] {
  return Object.fromEntries(bases.map(({ origin, host }) => [host, origin.startsWith('https:') ? 443 : 80]))
}

/** A new instance: the name of one run of a gateway, for its rows and its `Via` header. */
export function newInstance(): string {
  const pick = (): string => instanceLetters.charAt(randomInt(instanceLetters.length))
  return Array.from({ length: instanceLength }, pick).join('')
}
