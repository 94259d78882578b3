import * as json from './json-check.ts'
import type { JsonPath } from '../json/json-text.ts'
import { upstreamUrl } from './value-kind.ts'

/** A key of the gateway's own: of an environment variable, or the text of a file. */
export type KeySource = { readonly env: string } | { readonly file: string }

/**
 * What an upstream gets in place of the client's credentials: those very ones (`client`), nothing (`none`), or a key of the
 * gateway's own, in `Authorization` as a bearer's unless another header is named.
 */
export type UpstreamCredentials = 'client' | 'none' | (KeySource & { readonly header?: string | undefined })

/** Where a call goes that this upstream cannot take now; `models`: what its model is called there, by its name here. */
export type UpstreamFallback =
  | string
  | { readonly to: string; readonly models?: Readonly<Record<string, string>> | undefined }

/** An upstream besides the default one. */
export interface UpstreamSetting {
  readonly name: string
  /** Base URLs of replicas, which serve the same models. */
  readonly urls: readonly string[]
  /** Names of models, in which `*` stands for any characters; without them it is reached by path alone. */
  readonly models?: readonly string[] | undefined
  /** Slots of its own; those of `--max-concurrent` are as many for each if it is not said. */
  readonly max_concurrent?: number | undefined
  /** Tokens of any 24 hours, besides the budget of all. */
  readonly token_limit?: number | undefined
  /** `none` if it is not said. */
  readonly credentials?: UpstreamCredentials | undefined
  readonly fallback?: UpstreamFallback | undefined
}

/** The whole file. */
export interface UpstreamSettings {
  readonly version: 1
  /** The first one with a matching pattern has a call. */
  readonly upstreams: readonly UpstreamSetting[]
}

export const noUpstreams: UpstreamSettings = { version: 1, upstreams: [] }

/** The name by which calls may fall back to `--upstream`. */
export const defaultName = 'default'

const mostUpstreams = 100
const mostUrls = 32
const mostPatterns = 500

/** First segments of paths that the gateway answers or forwards itself, or gives advice about. */
const takenNames: ReadonlySet<string> = new Set(
  `${defaultName} v1 props rerank reranking health metrics api v1beta v1alpha chat completions responses messages embeddings models`.split(
    ' ',
  ),
)

const name = json.only(
  'a name of 1 to 32 small letters, digits and - _ . that begins with a letter or digit',
  (value): value is string => typeof value === 'string' && /^[a-z0-9][a-z0-9._-]{0,31}$/.test(value),
  { type: 'string', pattern: '^[a-z0-9][a-z0-9._-]{0,31}$' },
)
const pattern = json.only(
  'a text of 1 to 200 characters without control characters',
  (value): value is string => typeof value === 'string' && /^[^\p{Cc}]{1,200}$/u.test(value),
  { type: 'string', minLength: 1, maxLength: 200 },
)
const url = json.only(
  upstreamUrl.range,
  (value): value is string => typeof value === 'string' && upstreamUrl.parse(value) !== undefined,
  { type: 'string', format: 'uri' },
)
const variable = json.only(
  'the name of an environment variable',
  (value): value is string => typeof value === 'string' && /^[A-Za-z_]\w*$/.test(value),
)
const header = json.only(
  'the name of a header',
  (value): value is string => typeof value === 'string' && /^[\w!#$%&'*+.^`|~-]+$/.test(value),
)

const words = json.oneOf(['client', 'none'])
const ofVariable = json.object<{ env: string; header?: string | undefined }>({
  env: variable,
  header: json.optional(header),
})
const ofFile = json.object<{ file: string; header?: string | undefined }>({
  file: json.text,
  header: json.optional(header),
})
const credentials: json.JsonCheck<UpstreamCredentials> = json.described<UpstreamCredentials>(
  { description: '"client", "none", {"env": …, "header": …} or {"file": …, "header": …}' },
  (value) => {
    if (typeof value === 'object' && value !== null)
      return 'file' in value ? ofFile(value) : ofVariable(value)
    return words(value)
  },
)

const mappedFallback = json.object<{ to: string; models?: Readonly<Record<string, string>> | undefined }>({
  to: json.text,
  models: json.optional(json.mapOf(pattern)),
})
const fallback: json.JsonCheck<UpstreamFallback> = json.described<UpstreamFallback>(
  { description: 'the name of an upstream, or {"to": …, "models": {"name here": "name there"}}' },
  (value) => (typeof value === 'string' ? value : mappedFallback(value)),
)

const members = {
  urls: json.listOf(url),
  models: json.listOf(pattern),
  max_concurrent: json.whole(1, 100_000),
  token_limit: json.whole(1, Number.MAX_SAFE_INTEGER),
  credentials,
  fallback,
}

const setting = json.object<UpstreamSetting>(
  {
    name,
    urls: members.urls,
    models: json.optional(members.models),
    max_concurrent: json.optional(members.max_concurrent),
    token_limit: json.optional(members.token_limit),
    credentials: json.optional(members.credentials),
    fallback: json.optional(members.fallback),
  },
  { remarks: true },
)

/** A change of one of them; null takes a value away. */
export type UpstreamChange = {
  readonly [Name in Exclude<keyof UpstreamSetting, 'name' | 'urls'>]?: UpstreamSetting[Name] | null
} & { readonly urls?: readonly string[] | undefined }

/** The body of a change. */
export const upstreamChange: json.JsonCheck<UpstreamChange> = json.object<UpstreamChange>({
  urls: json.optional(members.urls),
  models: json.optional(json.orNull(members.models)),
  max_concurrent: json.optional(json.orNull(members.max_concurrent)),
  token_limit: json.optional(json.orNull(members.token_limit)),
  credentials: json.optional(json.orNull(members.credentials)),
  fallback: json.optional(json.orNull(members.fallback)),
})

const list: json.JsonCheck<readonly UpstreamSetting[]> = (value) =>
  Array.isArray(value) && value.length === 0 ? [] : json.listOf(setting)(value)

const shape = json.object<UpstreamSettings>({ version: json.oneOf([1]), upstreams: list }, { remarks: true })

/** What a file of upstreams may hold. `leadsBack` says of a URL that it is the gateway's own, or the dashboard's. */
export function upstreamSettings(leadsBack: (url: string) => boolean): json.JsonCheck<UpstreamSettings> {
  return json.described<UpstreamSettings>(undefined, (value) => {
    const read = shape(value)
    const { upstreams } = read
    atMost(upstreams, mostUpstreams, ['upstreams'], 'upstreams')
    const names = new Set<string>()
    const patterns: {
      readonly text: string
      readonly takes: (name: string) => boolean
      readonly of: string
    }[] = []
    for (const [index, { name: own, urls, models = [] }] of upstreams.entries()) {
      const at = (...steps: JsonPath): JsonPath => ['upstreams', index, ...steps]
      if (takenNames.has(own)) throw flaw(at('name'), `cannot be ${own}, which paths begin with already`)
      if (names.has(own)) throw flaw(at('name'), `is the name of an upstream before it: ${own}`)
      names.add(own)
      atMost(urls, mostUrls, at('urls'), 'URLs')
      for (const [place, each] of urls.entries()) {
        if (leadsBack(each))
          throw flaw(at('urls', place), `leads back to this gateway or its dashboard: ${each}`)
        if (urls.indexOf(each) < place) throw flaw(at('urls', place), `is in the list already: ${each}`)
      }
      for (const [place, text] of models.entries()) {
        const earlier = patterns.find(({ takes }) => takes(text))
        if (earlier !== undefined) {
          const words = `never matches: ${earlier.text} of ${earlier.of} takes all its models`
          throw flaw(at('models', place), words)
        }
        patterns.push({ text, takes: patternMatcher(text), of: own })
      }
    }
    atMost(patterns, mostPatterns, ['upstreams'], 'patterns of models')
    for (const [index, { name: own, fallback: to }] of upstreams.entries()) {
      const target = typeof to === 'object' ? to.to : to
      if (target === undefined) continue
      const at = ['upstreams', index, 'fallback', ...(typeof to === 'object' ? ['to'] : [])]
      if (target === own) throw flaw(at, 'is the upstream itself')
      if (target === defaultName || names.has(target)) continue
      const known = [defaultName, ...names].filter((each) => each !== own).join(', ')
      throw flaw(at, `names no upstream: ${target}; there are ${known}`)
    }
    return read
  })
}

/**
 * Whether a pattern of model names takes a name; `*` stands for any characters. A pattern that takes another's very text takes
 * all that the other does.
 */
export function patternMatcher(text: string): (name: string) => boolean {
  const [first = '', ...between] = text.split(/\*+/)
  const last = between.pop()
  if (last === undefined) return (name) => name === first
  return (name) => {
    const end = name.length - last.length
    if (end < first.length || !name.startsWith(first) || !name.endsWith(last)) return false
    let at = first.length
    for (const part of between) {
      const found = name.indexOf(part, at)
      if (found < 0 || found + part.length > end) return false
      at = found + part.length
    }
    return true
  }
}

function atMost(list: readonly unknown[], most: number, path: JsonPath, what: string): void {
  if (list.length > most) throw flaw(path, `has ${list.length} ${what}; ${most} are the most`)
}

function flaw(path: JsonPath, words: string): json.JsonValueError {
  return new json.JsonValueError(words, { path })
}
