import {
  baseUrl,
  bindAddress,
  captureRule,
  hostNames,
  integer,
  onOff,
  oneOf,
  path,
  switched,
} from './value-kind.ts'
import { optionTable, type OptionsOf, type ValuesOf } from './option-spec.ts'

/** The longest that a timer of Node can run, just under 25 days. */
const longestMs = 2 ** 31 - 1

const timeout = integer(0, longestMs)

/** The file of recorded calls, by default. */
export const defaultDatabase = 'data/llm_telemetry.db'
/** The file of payloads, by default. */
export const defaultRawLogFile = 'logger/payloads.jsonl'
/** The gateway's port, by default. */
export const defaultGatewayPort = 9090

/** Every option of `tokenweir gateway`, in the order of `--help`. */
export const gatewayOptionTable = optionTable({
  port: {
    kind: integer(0, 65_535),
    default: defaultGatewayPort,
    env: ['TOKENWEIR_GATEWAY_PORT', 'TOKENWEIR_PORT'],
    description: 'TCP port to listen on; 0 takes any that is free',
    changes: 'restart',
  },
  host: {
    kind: bindAddress,
    default: '0.0.0.0',
    description: 'address to bind',
    changes: 'restart',
  },
  upstream: {
    kind: baseUrl,
    default: 'https://api.openai.com/v1',
    description: 'base URL of the API that calls are forwarded to',
    changes: 'restart',
  },
  maxConcurrent: {
    kind: integer(1, 100_000),
    default: 4,
    description: 'how many calls may be in flight at the upstream; further ones wait',
    changes: 'live',
  },
  slotCooldownMs: {
    kind: integer(0, 60_000),
    default: 50,
    description: 'pause before a freed slot goes to the next waiting call',
    changes: 'live',
  },
  queueLimit: {
    kind: integer(0, 1_000_000),
    default: 10_000,
    description: 'how many calls may wait; further ones are answered 503',
  },
  queueTimeoutMs: {
    kind: timeout,
    default: 0,
    description: 'how long a call may wait before it is answered 503; 0 for any time',
  },
  retry429Max: {
    kind: integer(0, 100),
    default: 0,
    description:
      "how often a call is tried again after the upstream's 429, with waits of a minute at most; 0 for never",
    changes: 'restart',
  },
  tokenLimit: {
    kind: integer(1, Number.MAX_SAFE_INTEGER),
    default: 480_000_000,
    description: 'token budget of any 24 hours',
    changes: 'live',
  },
  budgetAction: {
    kind: oneOf(['report', 'reject']),
    default: 'report',
    description:
      'what the token budget does: report only shows it in /health, reject also answers 429 once it is used up',
    changes: 'restart',
  },
  db: {
    kind: path,
    default: defaultDatabase,
    description: 'file of the telemetry database',
  },
  pidFile: {
    kind: path,
    default: 'data/.proxy.pid',
    description: "file that holds the gateway's process id while it runs",
  },
  maxBodyMb: {
    kind: integer(1, 1024),
    default: 256,
    description:
      'largest body of an inference request in megabytes; larger ones are answered 413, other bodies are streamed',
  },
  connectTimeoutMs: {
    kind: integer(1, longestMs),
    default: 10_000,
    description: 'how long connecting to the upstream may take',
  },
  connectRetryMs: {
    kind: timeout,
    default: 0,
    description:
      'how long an upstream that refuses connections is tried again before the call fails; 0 for not at all',
  },
  firstByteTimeoutMs: {
    kind: timeout,
    default: 0,
    description: 'how long the upstream may take to begin its answer; 0 for any time',
  },
  idleTimeoutMs: {
    kind: timeout,
    default: 600_000,
    description: 'how long the upstream may pause within its answer; 0 for any time',
  },
  clientStallTimeoutMs: {
    kind: timeout,
    default: 120_000,
    description: 'how long a client may accept no byte before it is cut off; 0 for any time',
  },
  drainTimeoutMs: {
    kind: timeout,
    default: 30_000,
    description: 'how long calls in flight may go on after the gateway was told to stop',
  },
  via: {
    kind: onOff,
    default: true,
    description: 'whether the upstream is sent a Via header, which also detects loops',
  },
  usageInjection: {
    kind: oneOf(['auto', 'off']),
    default: 'auto',
    description: 'whether the upstream is asked for the usage of streams whose client did not ask',
  },
  allowHost: {
    kind: hostNames,
    default: [] as readonly string[],
    description: "further name under which the gateway's own routes may be asked; repeatable",
  },
  trustLoopback: {
    kind: onOff,
    default: true,
    description: 'whether root and the user who runs this need no admin token on this machine',
  },
  rawLog: {
    kind: switched,
    default: false,
    description: 'whether payloads are kept from the start; it can be switched while the gateway runs',
    changes: 'live',
  },
  rawLogCapture: {
    kind: captureRule,
    default: 'all',
    description: 'of which calls payloads are kept; the live feed shows them all',
  },
  rawLogMaxBodyKb: {
    kind: integer(1, 65_536),
    default: 1024,
    description: 'how much of a body is kept and shown, in kilobytes; the rest is left out and counted',
  },
  rawLogMaxMb: {
    kind: integer(1, 1_048_576),
    default: 1024,
    description: 'how much kept payloads may take on disk, in megabytes; the oldest go first',
  },
  rawLogFile: {
    kind: path,
    default: defaultRawLogFile,
    description: 'file that payloads are kept in; older segments lie beside it',
  },
})

/** The gateway's settings. */
export type GatewayValues = ValuesOf<typeof gatewayOptionTable>

export type GatewayOptions = OptionsOf<typeof gatewayOptionTable>
