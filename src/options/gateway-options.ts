import {
  upstreamUrl,
  bindAddress,
  captureRule,
  hostNames,
  integer,
  onOff,
  oneOf,
  path,
  sessionHeaders,
  receiverUrl,
  switched,
} from './value-kind.ts'
import { optionTable, type OptionsOf, row, type ValuesOf } from './option-spec.ts'

/** The longest time of a timer in Node, just under 25 days. */
const longestMs = 2 ** 31 - 1

const timeout = integer(0, longestMs, 'ms')

/** The default file of recorded calls. */
export const defaultDatabase = 'data/llm_telemetry.db'
/** The default file of payloads. */
export const defaultRawLogFile = 'logger/payloads.jsonl'
/** The gateway's default port. */
export const defaultGatewayPort = 9090

/** Every option of `tokenweir gateway`, in the order of `--help`. */
export const gatewayOptionTable = optionTable({
  port: row(integer(0, 65_535), defaultGatewayPort, 'TCP port to listen on; 0 picks a free one', {
    changes: 'restart',
    env: ['TOKENWEIR_GATEWAY_PORT', 'TOKENWEIR_PORT'],
  }),
  host: row(bindAddress, '0.0.0.0', 'address to bind', { changes: 'restart' }),
  upstream: row(upstreamUrl, 'https://api.openai.com/v1', 'base URL of the API to forward calls to', {
    changes: 'restart',
  }),
  upstreamFile: row(
    path,
    'upstreams.json',
    'file of additional upstreams; a bare name is next to the database',
  ),
  maxConcurrent: row(
    integer(1, 100_000, 'calls'),
    4,
    'maximum concurrent calls to the upstream; others queue',
    { changes: 'live' },
  ),
  slotCooldownMs: row(integer(0, 60_000, 'ms'), 50, 'pause before a freed slot is reused', {
    changes: 'live',
  }),
  queueLimit: row(integer(0, 1_000_000, 'calls'), 10_000, 'maximum calls in the queue; others get 503'),
  queueOrder: row<'fifo' | 'fair'>(
    oneOf(['fifo', 'fair']),
    'fifo',
    'order of waiting calls: fifo takes the oldest, fair lets clients take turns',
    { changes: 'live' },
  ),
  queueTimeoutMs: row(timeout, 0, 'maximum wait for a slot, then 503; 0 for no limit'),
  retry429Max: row(
    integer(0, 100),
    0,
    "retries after the upstream's 429, within a minute of waiting; 0 for none",
    { changes: 'restart' },
  ),
  maxRpm: row(
    integer(0, 100_000_000, 'calls'),
    0,
    'requests per minute to the default upstream; others wait; 0 for no limit',
  ),
  maxTpm: row(
    integer(0, Number.MAX_SAFE_INTEGER, 'tokens'),
    0,
    'tokens per minute for calls to the default upstream; others wait; 0 for no limit',
  ),
  pace: row(
    oneOf(['off', 'learn']),
    'off',
    'learn keeps to the per-minute limits that providers report, so calls wait instead of getting 429',
  ),
  tokenLimit: row(
    integer(1, Number.MAX_SAFE_INTEGER, 'tokens'),
    480_000_000,
    'token budget for any 24 hours',
    {
      changes: 'live',
    },
  ),
  budgetAction: row(
    oneOf(['report', 'reject']),
    'report',
    'report only shows the token budget; reject also answers 429 once it runs out',
    { changes: 'restart' },
  ),
  db: row(path, defaultDatabase, 'file of the telemetry database'),
  keepDays: row(
    integer(0, 36_500, 'days'),
    0,
    'days (UTC) of individual calls to keep; older calls are rolled up; 0 keeps all',
    { changes: 'live' },
  ),
  keepMb: row(
    integer(0, 1_048_576, 'MB'),
    0,
    'maximum size of the database in megabytes, above which the oldest days are rolled up; 0 for no limit',
    { changes: 'live' },
  ),
  pidFile: row(path, 'data/.proxy.pid', 'file for the process id of the running gateway'),
  maxBodyMb: row(
    integer(1, 1024, 'MB'),
    256,
    'maximum size of an inference body in megabytes; larger ones get 413; other bodies are streamed',
  ),
  connectTimeoutMs: row(integer(1, longestMs, 'ms'), 10_000, 'maximum time to connect to the upstream'),
  connectRetryMs: row(timeout, 0, 'how long to retry a refused connection; 0 for no retry'),
  firstByteTimeoutMs: row(timeout, 0, 'maximum wait for the first byte of a response; 0 for no limit'),
  idleTimeoutMs: row(timeout, 600_000, 'maximum pause within a response; 0 for no limit'),
  clientStallTimeoutMs: row(
    timeout,
    120_000,
    'maximum pause of a client that reads an answer or sends an upload; 0 for no limit',
  ),
  drainTimeoutMs: row(timeout, 30_000, 'time for calls in flight to finish when the gateway stops'),
  via: row(onOff, true, 'send a Via header to upstreams, which also detects loops'),
  usageInjection: row(
    oneOf(['auto', 'off']),
    'auto',
    'ask upstreams to report the usage of streams if the client did not',
  ),
  allowHost: row(
    hostNames,
    [] as readonly string[],
    "additional host name for the gateway's own routes; repeatable",
  ),
  trustLoopback: row(onOff, true, 'root and the gateway’s user need no admin token on this machine'),
  sessionHeader: row(
    sessionHeaders,
    [] as readonly string[],
    'header that names the session, read before the known ones; repeatable; none reads only x-tokenweir-session',
  ),
  metrics: row(onOff, true, 'serve GET /metrics for Prometheus', { changes: 'restart' }),
  otlpEndpoint: row(
    receiverUrl,
    'none',
    'base URL of an OpenTelemetry receiver; spans go to its /v1/traces',
    { env: ['TOKENWEIR_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] },
  ),
  otlpTracesEndpoint: row(receiverUrl, 'none', 'full URL of the receiver; overrides --otlp-endpoint', {
    env: ['TOKENWEIR_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'],
  }),
  rawLog: row(switched, false, 'capture payloads from the start; can be changed while the gateway runs', {
    changes: 'live',
  }),
  rawLogCapture: row(captureRule, 'all', 'calls to capture payloads of; the live feed shows all', {
    changes: 'live',
  }),
  rawLogMaxBodyKb: row(integer(1, 65_536, 'kB'), 1024, 'kilobytes of each body to capture and show'),
  rawLogMaxMb: row(
    integer(1, 1_048_576, 'MB'),
    1024,
    'maximum size of captured payloads in megabytes; the oldest are deleted first',
  ),
  share: row(
    switched,
    false,
    'share calls, limits and prices with other gateways, through the PostgreSQL at TOKENWEIR_SHARE',
    { env: [] },
  ),
  shareLost: row(
    oneOf(['keep', 'cut']),
    'keep',
    'calls in flight once the shared database is unreachable for 0.9 of --share-lease-s: keep finishes them, cut ends them',
  ),
  shareLeaseS: row(integer(3, 3600, 's'), 600, 'seconds for which a lost gateway keeps its slots'),
  shareDays: row(
    integer(0, 36_500, 'days'),
    0,
    'days of calls from other gateways that a new dashboard copies; 0 for all',
  ),
  rawLogFile: row(path, defaultRawLogFile, 'file for captured payloads; older segments are next to it'),
})

/** The values of all options of the gateway. */
export type GatewayValues = ValuesOf<typeof gatewayOptionTable>

export type GatewayOptions = OptionsOf<typeof gatewayOptionTable>
