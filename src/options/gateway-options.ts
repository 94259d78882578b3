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
  upstreamFile: row(
    path,
    'upstreams.json',
    'file of further upstreams and what goes to them; a name without a folder is one beside the database',
  ),
  maxConcurrent: row(
    integer(1, 100_000, 'calls'),
    4,
    'how many calls may be in flight at the upstream; further ones wait',
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
  queueLimit: row(
    integer(0, 1_000_000, 'calls'),
    10_000,
    'how many calls may wait; further ones are answered 503',
  ),
  queueOrder: row(
    oneOf(['fifo', 'fair']),
    'fifo',
    'which waiting call is next: fifo takes the one that waits longest, fair takes clients in turn',
    { changes: 'live' },
  ),
  queueTimeoutMs: row(timeout, 0, 'how long a call may wait before it is answered 503; 0 for any time'),
  retry429Max: row(
    integer(0, 100),
    0,
    "how often a call is tried again after the upstream's 429, with waits of a minute at most; 0 for never",
    { changes: 'restart' },
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
    'what the token budget does: report only shows it in /health, reject also answers 429 once it is used up',
    { changes: 'restart' },
  ),
  db: row(path, defaultDatabase, 'file of the telemetry database'),
  keepDays: row(
    integer(0, 36_500, 'days'),
    0,
    'of how many whole days (UTC) before today calls are kept one by one; older ones are folded into sums; 0 for all',
    { changes: 'live' },
  ),
  keepMb: row(
    integer(0, 1_048_576, 'MB'),
    0,
    'size of the database in megabytes above which its oldest days are folded into sums; 0 for any size',
    { changes: 'live' },
  ),
  pidFile: row(path, 'data/.proxy.pid', "file that holds the gateway's process id while it runs"),
  maxBodyMb: row(
    integer(1, 1024, 'MB'),
    256,
    'largest body of an inference request in megabytes; larger ones are answered 413, other bodies are streamed',
  ),
  connectTimeoutMs: row(integer(1, longestMs, 'ms'), 10_000, 'how long connecting to the upstream may take'),
  connectRetryMs: row(
    timeout,
    0,
    'how long an upstream that refuses connections is tried again before the call fails; 0 for not at all',
  ),
  firstByteTimeoutMs: row(timeout, 0, 'how long the upstream may take to begin its answer; 0 for any time'),
  idleTimeoutMs: row(timeout, 600_000, 'how long the upstream may pause within its answer; 0 for any time'),
  clientStallTimeoutMs: row(
    timeout,
    120_000,
    'how long a client may accept no byte before it is cut off; 0 for any time',
  ),
  drainTimeoutMs: row(
    timeout,
    30_000,
    'how long calls in flight may go on after the gateway was told to stop',
  ),
  via: row(onOff, true, 'whether the upstream is sent a Via header, which also detects loops'),
  usageInjection: row(
    oneOf(['auto', 'off']),
    'auto',
    'whether the upstream is asked for the usage of streams whose client did not ask',
  ),
  allowHost: row(
    hostNames,
    [] as readonly string[],
    "further name under which the gateway's own routes may be asked; repeatable",
  ),
  trustLoopback: row(
    onOff,
    true,
    'whether root and the user who runs this need no admin token on this machine',
  ),
  sessionHeader: row(
    sessionHeaders,
    [] as readonly string[],
    'header that names the session of a call, read before those that agents are known to send; repeatable; with the word none x-tokenweir-session alone is read',
  ),
  metrics: row(onOff, true, 'whether GET /metrics is answered, for Prometheus', { changes: 'restart' }),
  otlpEndpoint: row(
    receiverUrl,
    'none',
    'base URL of an OpenTelemetry receiver: a span of each call is sent to /v1/traces below it',
    { env: ['TOKENWEIR_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] },
  ),
  otlpTracesEndpoint: row(
    receiverUrl,
    'none',
    'the same as a whole URL, to which nothing is added; it goes before --otlp-endpoint',
    { env: ['TOKENWEIR_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] },
  ),
  rawLog: row(
    switched,
    false,
    'whether payloads are kept from the start; it can be switched while the gateway runs',
    { changes: 'live' },
  ),
  rawLogCapture: row(captureRule, 'all', 'of which calls payloads are kept; the live feed shows them all'),
  rawLogMaxBodyKb: row(
    integer(1, 65_536, 'kB'),
    1024,
    'how much of a body is kept and shown, in kilobytes; the rest is left out and counted',
  ),
  rawLogMaxMb: row(
    integer(1, 1_048_576, 'MB'),
    1024,
    'how much kept payloads may take on disk, in megabytes; the oldest go first',
  ),
  share: row(
    switched,
    false,
    'whether calls, limits and prices are shared with other gateways, through the PostgreSQL whose address is in the variable TOKENWEIR_SHARE',
    { env: [] },
  ),
  shareLost: row(
    oneOf(['keep', 'cut']),
    'keep',
    'with --share, what happens to calls in flight when the shared database was away for nine tenths of --share-lease-s: keep finishes them, cut ends them',
  ),
  shareLeaseS: row(
    integer(3, 3600, 's'),
    600,
    'with --share, how many seconds after its last word a gateway that is lost keeps its slots',
  ),
  shareDays: row(
    integer(0, 36_500, 'days'),
    0,
    'of how many days a new machine copies the calls of the others; 0 for all. For dashboards',
  ),
  rawLogFile: row(path, defaultRawLogFile, 'file that payloads are kept in; older segments lie beside it'),
})

/** The gateway's settings. */
export type GatewayValues = ValuesOf<typeof gatewayOptionTable>

export type GatewayOptions = OptionsOf<typeof gatewayOptionTable>
