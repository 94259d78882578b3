import { dirname } from 'node:path'
import type { UpstreamRow, UpstreamsReport } from '../../api/upstreams.ts'
import { ownOptionTable } from '../../options/dashboard-options.ts'
import { defaultGatewayPort, gatewayOptionTable } from '../../options/gateway-options.ts'
import { type OptionsOf, optionTable } from '../../options/option-spec.ts'
import { Upstreams } from '../../supervisor/upstreams.ts'
import { database, flag } from '../option-rows.ts'
import { type CommandRun, type Environment, parseOptions } from '../parse-options.ts'
import { count, orDash, unknownFigure } from '../../lib/number-format.ts'
import { printable } from '../terminal/printable.ts'
import { type Column, column, printTable, right } from '../terminal/table-layout.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** Options of all commands on upstreams: the database, and with it the file of upstreams. */
export const placeOptions = {
  upstreamFile: gatewayOptionTable.upstreamFile,
  db: database('file of the telemetry database; the upstreams file is next to it'),
}

export const example = 'tokenweir upstreams'
export const use = 'reads'
export const table = optionTable({ json: flag('print one JSON object'), ...placeOptions })

/** The upstreams of the options' file, and their state in the gateway of that folder. */
export function upstreamsOf(
  paths: Pick<OptionsOf<typeof table>, 'db' | 'upstreamFile'>,
  env: Environment,
): Upstreams {
  const { upstream } = parseOptions({ upstream: gatewayOptionTable.upstream }, [], env)
  return new Upstreams({
    dataFolder: dirname(paths.db),
    file: paths.upstreamFile,
    upstream,
    dashboard: { port: ownOptionTable.dashboardPort.default },
    gatewayPort: defaultGatewayPort,
  })
}

/** `tokenweir upstreams`: all upstreams, with their settings and their state in the running gateway. */
export const run: CommandRun<typeof table> = async (options, { env, terminal }) => {
  const report = await upstreamsOf(options, env).report()
  if (options.json) terminal.print(`${JSON.stringify(report)}\n`)
  else show(report, terminal)
  return 0
}

function show({ upstreams, file, problem }: UpstreamsReport, terminal: Terminal): void {
  const { print, warn } = terminal
  if (problem !== null) warn(`tokenweir: ${problem} The last valid upstreams stay in force.\n`)
  printTable(columns, upstreams, terminal)
  if (upstreams.length === 1)
    print(`More upstreams: tokenweir upstreams add <name> --url <url> (saved in ${file})\n`)
}

/** The source of an upstream's key, in a word. */
export function credentialsText({ credentials, name }: Pick<UpstreamRow, 'credentials' | 'name'>): string {
  if (name === 'default') return "the client's"
  if (typeof credentials === 'string') return credentials === 'client' ? "the client's" : 'none'
  return 'env' in credentials ? `$${credentials.env}` : printable(credentials.file)
}

const orUnknown = (value: number | null | undefined): string => orDash(value, count)

const columns: readonly Column<UpstreamRow>[] = [
  column('upstream', 0, ({ name }) => name, { gap: '' }),
  column('addresses', 1, ({ urls }) => printable(urls.join(', ')), {
    cut: { minWidth: 20, at: 'end' },
  }),
  column('models', 2, modelsText, { cut: { minWidth: 10, at: 'end' } }),
  column('key', 3, credentialsText),
  column('fallback', 5, fallbackText),
  column('tokens', 4, tokensText, right),
  column('state', 0, stateText),
  column('in flight', 1, ({ health }) => orUnknown(health?.rate_limiter.active), right),
  column('limit', 1, limitText, right),
  column('waiting', 1, ({ health }) => orUnknown(health?.rate_limiter.queued), right),
]

function modelsText({ name, models }: UpstreamRow): string {
  if (name === 'default') return 'everything else'
  return models.length === 0 ? `by path, /${name}/` : printable(models.join(', '))
}

function fallbackText({ fallback }: UpstreamRow): string {
  return fallback === null ? unknownFigure : typeof fallback === 'string' ? fallback : fallback.to
}

/** Tokens used in 24 hours, and their limit. */
function tokensText({ token_limit: limit, health }: UpstreamRow): string {
  return limit === null ? unknownFigure : `${orUnknown(health?.used_tokens)} of ${count(limit)}`
}

function stateText({ health }: UpstreamRow): string {
  if (health === null) return unknownFigure
  const failing = health.replicas.filter(({ state }) => state === 'failing').length
  if (failing === 0 || health.state === 'failing') return health.state
  return `${failing} of ${health.replicas.length} failing`
}

function limitText({ health, max_concurrent: most }: UpstreamRow): string {
  return orUnknown(health?.rate_limiter.max_concurrent ?? most)
}
