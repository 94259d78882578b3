import { defaultDatabase } from '../../options/gateway-options.ts'
import { type ValueKind, path, toggle } from '../../options/value-kind.ts'
import { envName, type Options, type OptionSpec, type OptionTable } from '../../options/option-spec.ts'
import { parseIsoInstant } from '../../lib/iso-instant.ts'
import { mostUsd } from '../../pricing/rate-bounds.ts'

/** What `tokenweir costs show` is asked for. */
export interface CostsShowValues {
  upstream: string | null
  json: boolean
  db: string
}

/** What `tokenweir costs set` is asked for; null is not said. */
export interface CostsSetValues {
  input: number | null
  output: number | null
  cacheRead: number | null
  cacheWrite: number | null
  cacheWrite1h: number | null
  reasoning: number | null
  inputAudio: number | null
  outputAudio: number | null
  perRequest: number | null
  perSearchUnit: number | null
  effectiveFrom: string | null
  remove: boolean
  db: string
}

export type CostsShowOptions = Options<CostsShowValues>
export type CostsSetOptions = Options<CostsSetValues>

const usd: ValueKind<number> = {
  placeholder: '<usd>',
  range: `a number from 0 to ${mostUsd}`,
  parse: (text) => {
    const value = /^\d{1,4}(?:\.\d{1,12})?$/.test(text) ? Number(text) : NaN
    return value <= mostUsd ? value : undefined
  },
}

const priceTime: ValueKind<string> = {
  placeholder: '<time>',
  range: 'an instant in ISO 8601 such as 2026-11-21T04:00:00Z, or a day of UTC such as 2026-11-21',
  parse: (text) => (parseIsoInstant(text) === null ? undefined : text),
}

/** A host with its port where it has one, also as the URL in which it stands. */
const upstreamHost: ValueKind<string> = {
  placeholder: '<host>',
  range: 'a host such as api.openai.com or 127.0.0.1:8080, or a URL',
  parse: (text) => {
    const url = URL.parse(/^https?:\/\//i.test(text) ? text : `http://${text}`)
    if (url === null || url.username !== '' || url.password !== '') return undefined
    return /^https?:\/\//i.test(text) || url.pathname === '/' ? url.host : undefined
  },
}

const db: OptionSpec<string> = {
  name: 'db',
  kind: path,
  default: defaultDatabase,
  env: [envName('db')],
  description: 'file of the telemetry database; the prices lie beside it',
}

/** Every option of `tokenweir costs show`, in the order of `--help`. */
export const costsShowOptionTable: OptionTable<CostsShowValues> = {
  upstream: {
    name: 'upstream',
    kind: upstreamHost,
    default: null,
    env: [],
    description: 'where the model is called; everywhere unless given',
  },
  json: {
    name: 'json',
    kind: toggle,
    default: false,
    env: [],
    description: 'print one JSON object',
  },
  db,
}

/** Every option of `tokenweir costs set`, in the order of `--help`. */
export const costsSetOptionTable: OptionTable<CostsSetValues> = {
  input: amount('input', 'input tokens, in USD per million'),
  output: amount('output', 'output tokens, in USD per million'),
  cacheRead: amount('cache-read', 'cached input tokens, in USD per million; as input unless given'),
  cacheWrite: amount(
    'cache-write',
    'input tokens written to the cache, in USD per million; as input unless given',
  ),
  cacheWrite1h: amount(
    'cache-write-1h',
    'those written for an hour, in USD per million; as --cache-write unless given',
  ),
  reasoning: amount('reasoning', 'reasoning tokens, in USD per million; as output unless given'),
  inputAudio: amount('input-audio', 'input tokens of audio, in USD per million; as input unless given'),
  outputAudio: amount('output-audio', 'output tokens of audio, in USD per million; as output unless given'),
  perRequest: amount('per-request', 'each call, in USD'),
  perSearchUnit: amount('per-search-unit', 'each search unit of a rerank call, in USD'),
  effectiveFrom: {
    name: 'effective-from',
    kind: priceTime,
    default: null,
    env: [],
    description: 'from when it holds, beside earlier prices; always, in place of all others, unless given',
  },
  remove: {
    name: 'remove',
    kind: toggle,
    default: false,
    env: [],
    description: 'take the price away',
  },
  db,
}

function amount(name: string, what: string): OptionSpec<number | null> {
  return { name, kind: usd, default: null, env: [], description: `price of ${what}` }
}
