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

/** The longest that a timer of Node can run, just under 25 days. */
const longestMs = 2 ** 31 - 1

const timeout = integer(0, longestMs, 'ms')

/** The file of recorded calls, by default. */
export const defaultDatabase = 'data/llm_telemetry.db'
/** The file of payloads, by default. */
export const defaultRawLogFile = 'logger/payloads.jsonl'
/** The gateway's port, by default. */
export const defaultGatewayPort = 9090

/** Every option of `tokenweir gateway`, in the order of `--help`. */
export const gatewayOptionTable = optionTable({
  port: row(integer(0, 65_535), defaultGatewayPort, 'TCP port to listen on; 0 takes any that is free', {
    changes: 'restart',
    env: ['TOKENWEIR_GATEWAY_PORT', 'TOKENWEIR_PORT'],
  }),
  host: row(bindAddress, '0.0.0.0', 'address to bind', { changes: 'restart' }),
  upstream: row(upstreamUrl, 'https://api.openai.com/v1', 'base URL of the API that calls are forwarded to', {
    changes: 'restart',
  }),
  upstreamFile: row(path, 'upstreams.json', 'file of further upstreams; a bare name is next to the database'),
  maxConcurrent: row(
    integer(1, 100_000, 'calls'),
    4,
    'calls that may be in flight at the upstream; others wait',
    { changes: 'live' },
  ),
  slotCooldownMs: row(
    integer(0, 60_000, 'ms'),
    50,
    'pause before a freed slot goes to the next waiting call',
    {
      changes: 'live',
    },
  ),
  queueLimit: row(integer(0, 1_000_000, 'calls'), 10_000, 'calls that may wait; others are answered 503'),
  queueOrder: row(
    oneOf(['fifo', 'fair']),
    'fifo',
    'which waiting call is next: fifo takes the oldest, fair takes clients in turn',
    { changes: 'live' },
  ),
  queueTimeoutMs: row(timeout, 0, 'longest wait for a slot, then 503; 0 for no limit'),
  retry429Max: row(
    integer(0, 100),
    0,
    "tries again after the upstream's 429, within a minute of waiting; 0 for none",
    { changes: 'restart' },
  ),
  maxRpm: row(
    integer(0, 100_000_000, 'calls'),
    0,
    'requests a minute that the default upstream is sent, the others wait; 0 for no limit',
  ),
  maxTpm: row(
    integer(0, Number.MAX_SAFE_INTEGER, 'tokens'),
    0,
    'tokens a minute that calls of the default upstream may use, the others wait; 0 for no limit',
  ),
  pace: row(
    oneOf(['off', 'learn']),
    'off',
    'learn keeps the limits a minute that providers tell of: calls wait in place of meeting a 429',
  ),
  tokenLimit: row(
    integer(1, Number.MAX_SAFE_INTEGER, 'tokens'),
    480_000_000,
    'token budget of any 24 hours',
    {
      changes: 'live',
    },
  ),
  budgetAction: row(
    oneOf(['report', 'reject']),
    'report',
    'report shows the token budget in /health; reject also answers 429 once it is used up',
    { changes: 'restart' },
  ),
  db: row(path, defaultDatabase, 'file of the telemetry database'),
  keepDays: row(
    integer(0, 36_500, 'days'),
    0,
    'whole days (UTC) before today of which single calls are kept; older ones become sums; 0 for all',
    { changes: 'live' },
  ),
  keepMb: row(
    integer(0, 1_048_576, 'MB'),
    0,
    'megabytes of the database above which its oldest days become sums; 0 for no limit',
    { changes: 'live' },
  ),
  pidFile: row(path, 'data/.proxy.pid', "file that holds the gateway's process id while it runs"),
  maxBodyMb: row(
    integer(1, 1024, 'MB'),
    256,
    'megabytes of the largest inference body; larger ones are answered 413, other bodies are streamed',
  ),
  connectTimeoutMs: row(integer(1, longestMs, 'ms'), 10_000, 'longest time to connect to the upstream'),
  connectRetryMs: row(timeout, 0, 'time in which a refused connection is tried again; 0 for never'),
  firstByteTimeoutMs: row(timeout, 0, 'longest wait for the first byte of an answer; 0 for no limit'),
  idleTimeoutMs: row(timeout, 600_000, 'longest pause within an answer; 0 for no limit'),
  clientStallTimeoutMs: row(timeout, 120_000, 'longest time in which a client takes no byte; 0 for no limit'),
  drainTimeoutMs: row(timeout, 30_000, 'time for calls in flight to finish after a stop'),
  via: row(onOff, true, 'send upstreams a Via header, which also detects loops'),
  usageInjection: row(
    oneOf(['auto', 'off']),
    'auto',
    'ask upstreams for the usage of streams whose client did not ask',
  ),
  allowHost: row(hostNames, [] as readonly string[], "further name for the gateway's own routes; repeatable"),
  trustLoopback: row(onOff, true, 'root and the user who runs this need no admin token on this machine'),
  sessionHeader: row(
    sessionHeaders,
    [] as readonly string[],
    'header that names the session, read before the known ones; repeatable; none: only x-tokenweir-session is read',
  ),
  metrics: row(onOff, true, 'answer GET /metrics, for Prometheus', { changes: 'restart' }),
  otlpEndpoint: row(
    receiverUrl,
    'none',
    'base URL of an OpenTelemetry receiver; spans go to /v1/traces below it',
    { env: ['TOKENWEIR_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] },
  ),
  otlpTracesEndpoint: row(receiverUrl, 'none', 'whole URL of the receiver; used before --otlp-endpoint', {
    env: ['TOKENWEIR_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'],
  }),
  rawLog: row(switched, false, 'keep payloads from the start; can be switched while the gateway runs', {
    changes: 'live',
  }),
  rawLogCapture: row(captureRule, 'all', 'calls whose payloads are kept; the live feed shows all', {
    changes: 'live',
  }),
  rawLogMaxBodyKb: row(integer(1, 65_536, 'kB'), 1024, 'kilobytes of each body that are kept and shown'),
  rawLogMaxMb: row(integer(1, 1_048_576, 'MB'), 1024, 'megabytes of kept payloads; the oldest go first'),
  share: row(
    switched,
    false,
    'share calls, limits and prices with other gateways, through the PostgreSQL at TOKENWEIR_SHARE',
    { env: [] },
  ),
  shareLost: row(
    oneOf(['keep', 'cut']),
    'keep',
    'calls in flight once the shared database was away for 0.9 of --share-lease-s: keep finishes them, cut ends them',
  ),
  shareLeaseS: row(integer(3, 3600, 's'), 600, 'seconds for which a lost gateway keeps its slots'),
  shareDays: row(
    integer(0, 36_500, 'days'),
    0,
    'days of the calls of others that a new dashboard copies; 0 for all',
  ),
  rawLogFile: row(path, defaultRawLogFile, 'file of kept payloads; older segments are next to it'),
})

/** The gateway's settings. */
export type GatewayValues = ValuesOf<typeof gatewayOptionTable>

export type GatewayOptions = OptionsOf<typeof gatewayOptionTable>
