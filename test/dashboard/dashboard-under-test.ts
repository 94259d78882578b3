import { noWebhook } from '../../src/alerts/alert-service.ts'
import type { AlertsReport } from '../../src/api/alerts.ts'
import type { Clock } from '../../src/call/clock.ts'
import { type DashboardServer, makeDashboardServer } from '../../src/dashboard/dashboard-server.ts'
import type { AlertSource, QuerySource } from '../../src/dashboard/routes/dashboard-deps.ts'
import { ThisMachine } from '../../src/lib/this-machine.ts'
import { NotesFile } from '../../src/supervisor/notes-file.ts'
import type { JobStarter } from '../../src/supervisor/jobs.ts'
import { type RequestParts, exchange } from '../support/exchange.ts'
import { expectDocumented } from '../support/documented.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { asRecord, parseRecord } from '../support/json-record.ts'
import type { RawResponse } from '../support/raw-response.ts'
import { ScriptedGateway, ScriptedLog, ScriptedRawLog } from './scripted-gateway.ts'

export const adminToken = 'correct horse battery staple'

export interface DashboardSetup {
  /** Any free one unless told. */
  readonly port?: number
  readonly adminToken?: string | null
  readonly demandsToken?: boolean
  readonly allowedHosts?: readonly string[]
  /** Asks the system whose each connection is unless told. */
  readonly thisMachine?: ThisMachine
  /** A clock that stands still unless told. */
  readonly clock?: Clock
  /** Says that it is busy unless told. */
  readonly queries?: QuerySource
  /** Throws unless told. */
  readonly jobs?: JobStarter
  /** Nothing is active unless told. */
  readonly alerts?: AlertSource
  /** The price file: in a folder that is not there unless told. */
  readonly priceFile?: string
}

const emptyReport: AlertsReport = {
  rules: [],
  active: [],
  messages: [],
  receiver: null,
  file: '/nowhere/alerts.json',
  problem: null,
  pending: 0,
  dropped: 0,
  looked_at: null,
}

const busyQueries: QuerySource = {
  ask: () => Promise.resolve({ kind: 'unavailable', code: 'too_busy' }),
}

export const noJobs: JobStarter = {
  last: { compress: null, reprice: null },
  sync: null,
  file: () => ({ file: '/data/calls.db', bytes: null, disk_free_bytes: null }),
  compress: () => {
    throw new Error('no job was expected')
  },
  reprice: () => {
    throw new Error('no job was expected')
  },
  export: () => Promise.reject(new Error('no export was expected')),
  startSync: () => {
    throw new Error('no sync was expected')
  },
  watch: () => () => undefined,
}

const notAsked = (): Promise<never> => Promise.reject(new Error('not asked'))

const noAlerts: AlertSource = {
  report: () => ({ ...emptyReport }),
  active: () => [],
  ruleSettings: () => ({}),
  change: async () => ({ ...emptyReport }),
  test: async () => ({ delivered: false, detail: noWebhook }),
}

/** The dashboard's real server on a port of its own, before a scripted gateway. */
export interface DashboardUnderTest extends AsyncDisposable {
  readonly server: DashboardServer
  readonly port: number
  readonly gateway: ScriptedGateway
  readonly log: ScriptedLog
  readonly rawLog: ScriptedRawLog
  readonly clock: FakeClock
  /** Faults of the server's own that it told of. */
  readonly faults: unknown[]
  /** Sends under `Host: localhost:<port>` unless told. */
  ask(method: string, target: string, parts?: RequestParts): Promise<RawResponse>
  /** As `ask`, with a JSON body. */
  askJson(method: string, target: string, body: unknown, parts?: RequestParts): Promise<RawResponse>
}

/** `await using dashboard = await startDashboard()` */
export async function startDashboard(setup: DashboardSetup = {}): Promise<DashboardUnderTest> {
  const gateway = new ScriptedGateway()
  const log = new ScriptedLog()
  const rawLog = new ScriptedRawLog()
  const clock = new FakeClock()
  const faults: unknown[] = []
  const server = makeDashboardServer({
    process: gateway,
    log,
    rawLog,
    queries: setup.queries ?? busyQueries,
    jobs: setup.jobs ?? noJobs,
    alerts: () => setup.alerts ?? noAlerts,
    clients: { report: notAsked, change: notAsked },
    upstreams: { report: notAsked, change: notAsked, remove: notAsked },
    models: notAsked,
    testUpstream: notAsked,
    notes: new NotesFile('/nowhere'),
    gateways: null,
    priceFile: setup.priceFile ?? '/nowhere/model_costs.json',
    adminToken: setup.adminToken ?? null,
    thisMachine: setup.thisMachine ?? new ThisMachine(true),
    demandsToken: setup.demandsToken ?? false,
    allowedHosts: setup.allowedHosts ?? [],
    clock: setup.clock ?? clock,
    onFault: (error) => faults.push(error),
  })
  const port = await server.listen(setup.port ?? 0, '127.0.0.1')
  const host = `localhost:${port}`
  const ask = async (method: string, target: string, parts: RequestParts = {}): Promise<RawResponse> => {
    const isScripted = gateway.trouble !== null || rawLog.trouble !== null
    const answer = await exchange(port, method, target, { host, ...parts })
    const isWhole = answer.complete && answer.header('content-encoding') === undefined
    expectDocumented({
      method,
      target,
      status: answer.status,
      contentType: answer.header('content-type') ?? null,
      body: isWhole ? answer.body.toString() : undefined,
      isScripted,
    })
    return answer
  }
  return {
    server,
    port,
    gateway,
    log,
    rawLog,
    clock,
    faults,
    ask,
    askJson: (method, target, body, parts = {}) => {
      const headers = [['Content-Type', 'application/json'] as const, ...(parts.headers ?? [])]
      return ask(method, target, { ...parts, headers, body: JSON.stringify(body) })
    },
    [Symbol.asyncDispose]: () => server.close(),
  }
}

/** What an answer says went wrong. */
export function errorOf(
  response: RawResponse,
): { readonly code: unknown; readonly message: string } & object {
  const { code, message, ...rest } = asRecord(parseRecord(response.body.toString())['error'])
  return { code, message: String(message), ...rest }
}

/** The path of the page's style, whose name holds a hash: a file of the page that anybody may have. */
export async function styleOf(dashboard: DashboardUnderTest): Promise<string> {
  const page = await dashboard.ask('GET', '/')
  const [, path] = /href="(\/assets\/style-[\w-]+\.css)"/.exec(page.body.toString()) ?? []
  if (path === undefined) throw new Error('the page has no style')
  return path
}
