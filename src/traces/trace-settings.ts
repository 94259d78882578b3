import { orNull } from '../lib/errors.ts'

/** The receiver of spans. A header's value may be a secret, so it is neither logged nor shown. */
export interface TraceSettings {
  readonly url: string
  readonly isGzip: boolean
  readonly headers: Readonly<Record<string, string>>
  /** Attributes of the resource. */
  readonly resource: Readonly<Record<string, string>>
  /** A text about variables that could not be used; null without any. */
  readonly problem: string | null
}

/** The addresses from the options: each is `none` if it is not set, but not both. */
export interface TraceEndpoints {
  /** The base address, to which `/v1/traces` is added. */
  readonly otlpEndpoint: string
  /** The full address. */
  readonly otlpTracesEndpoint: string
}

type Environment = Readonly<Record<string, string | undefined>>

const prefix = 'OTEL_EXPORTER_OTLP'

/**
 * Reads settings by the rules of OpenTelemetry's exporters (https://opentelemetry.io/docs/specs/otel/protocol/exporter):
 * variables of traces override those of all signals.
 */
export function traceSettings(endpoints: TraceEndpoints, env: Environment): TraceSettings {
  const { otlpEndpoint: base, otlpTracesEndpoint: traces } = endpoints
  const problems: string[] = []
  const list = (
    variable: string,
    isGood: (name: string, value: string) => boolean,
  ): Record<string, string> => {
    const entries = pairs(env[variable] ?? '')
    const good = entries.filter(([name, value]) => isGood(name, value))
    const bad = entries.length - good.length
    if (bad > 0) problems.push(`${variable} has ${bad} entries that are not name=value, which are left out`)
    return Object.fromEntries(good)
  }
  const protocol = set(env[`${prefix}_TRACES_PROTOCOL`]) ?? set(env[`${prefix}_PROTOCOL`]) ?? 'http/json'
  // A receiver of OTLP over HTTP usually accepts both encodings at one address: only another transport is a
  // problem.
  if (!protocol.startsWith('http/'))
    problems.push(`the protocol ${protocol.slice(0, 20)} is not spoken: spans are sent as http/json`)
  const compression = set(env[`${prefix}_TRACES_COMPRESSION`]) ?? set(env[`${prefix}_COMPRESSION`])
  const serviceName = set(env['OTEL_SERVICE_NAME'])
  return {
    url: traces === 'none' ? `${base.replace(/\/+$/, '')}/v1/traces` : traces,
    isGzip: compression === 'gzip',
    headers: { ...list(`${prefix}_HEADERS`, isHeader), ...list(`${prefix}_TRACES_HEADERS`, isHeader) },
    resource: {
      'service.name': 'tokenweir',
      ...list('OTEL_RESOURCE_ATTRIBUTES', (name) => name !== ''),
      ...(serviceName !== null && { 'service.name': serviceName }),
    },
    problem: problems.length === 0 ? null : problems.join('; '),
  }
}

function set(value: string | undefined): string | null {
  return value === undefined || value === '' ? null : value
}

/** Reads `a=1,b=2`, percent-encoded as in W3C Baggage. An entry without a name gets an empty one. */
function pairs(text: string): readonly (readonly [name: string, value: string])[] {
  const entries = text.split(',').filter((entry) => entry.trim() !== '')
  return entries.map((entry) => {
    const [, name = '', value = ''] = /^([^=]*)=(.*)$/s.exec(entry) ?? []
    return [decoded(name), decoded(value)]
  })
}

function decoded(text: string): string {
  return orNull(() => decodeURIComponent(text.trim())) ?? text.trim()
}

/** True for a valid header by RFC 9110 §5.1 and §5.5. */
function isHeader(name: string, value: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
}
