import * as v from 'valibot'
import type { JsonPath } from '../json/json-text.ts'
import { limitChanges, limitSettings, perMinute } from './limit-settings.ts'
import {
  type Checked,
  JsonValueError,
  type MembersOf,
  type Schema,
  be,
  listOf,
  mapOf,
  object,
  objectWithRemarks,
  oneOf,
  rule,
  text,
  textLike,
} from './schema.ts'
import { upstreamUrl } from './value-kind.ts'

/** The name by which calls may fall back to `--upstream`. */
export const defaultName = 'default'

const mostUpstreams = 100
const mostUrls = 32
const mostPatterns = 500

/** First segments of paths that have another meaning for the gateway, so that no upstream can have these names. */
const reservedNames: ReadonlySet<string> = new Set(
  `${defaultName} v1 v2 props rerank reranking health metrics api v1beta v1alpha chat completions responses messages embeddings models`.split(
    ' ',
  ),
)

const name = textLike(
  'a name of 1 to 32 small letters, digits and - _ . that begins with a letter or digit',
  /^[a-z0-9][a-z0-9._-]{0,31}$/,
)
const pattern = textLike('a text of 1 to 200 characters without control characters', /^[^\p{Cc}]{1,200}$/u)
const url = v.pipe(
  v.string(be(upstreamUrl.range)),
  v.check((value) => upstreamUrl.parse(value) !== undefined, be(upstreamUrl.range)),
  v.description(upstreamUrl.range),
)

const header = v.optional(textLike('the name of a header', /^[\w!#$%&'*+.^`|~-]+$/))
const ofVariable = object({ env: textLike('the name of an environment variable', /^[A-Za-z_]\w*$/), header })
const ofFile = object({ file: text, header })
const keyword = v.picklist(['client', 'none'])

/**
 * The credentials for an upstream: the client's (`client`), none (`none`), or the gateway's own key from a
 * variable or a file. The key is sent as a bearer token in `Authorization`, or in the named header.
 */
const credentials = oneOf([keyword, ofVariable, ofFile], (value) => {
  if (typeof value !== 'object' || value === null) return keyword
  return 'file' in value ? ofFile : ofVariable
})

export type UpstreamCredentials = Checked<typeof credentials>

const mappedFallback = object({ to: text, models: v.optional(mapOf(pattern)) })

/** The fallback for calls that this upstream cannot take. `models`: names of models there, by the names here. */
const fallback = oneOf([text, mappedFallback], (value) => (typeof value === 'string' ? text : mappedFallback))

/** Base URLs of replicas, which serve the same models. */
const urls = listOf(url)
/** Patterns of models, in which `*` stands for any characters. Without patterns, only a path reaches the upstream. */
const models = listOf(pattern)
const modelLimit = object({ rpm: v.optional(perMinute), tpm: v.optional(perMinute) })
/** Limits by patterns of models. All models of a pattern share its limits. The first matching pattern counts. */
const limits = mapOf(modelLimit)

/** An upstream besides the default one. */
const members = {
  name,
  urls,
  models: v.optional(models),
  /** Without `max_concurrent` the upstream has as many slots as `--max-concurrent` says. */
  ...limitSettings,
  limits: v.optional(limits),
  credentials: v.optional(credentials),
  fallback: v.optional(fallback),
}

export type UpstreamSetting = MembersOf<typeof members>

/** A change of an upstream's settings; null removes a value. */
export const upstreamChange = object({
  urls: v.optional(urls),
  models: v.optional(v.nullable(models)),
  ...limitChanges,
  limits: v.optional(v.nullable(limits)),
  credentials: v.optional(v.nullable(credentials)),
  fallback: v.optional(v.nullable(fallback)),
})

export type UpstreamChange = Readonly<Checked<typeof upstreamChange>>

/** The body of a request to test addresses. */
export const testedUpstream = object({ urls })

/** The whole file. A call goes to the first upstream with a matching pattern. */
const shape = objectWithRemarks({ version: v.literal(1), upstreams: v.array(objectWithRemarks(members)) })

export type UpstreamSettings = { readonly version: 1; readonly upstreams: readonly UpstreamSetting[] }

export const noUpstreams: UpstreamSettings = { version: 1, upstreams: [] }

/** The schema of a file of upstreams. `leadsBack` returns true for the gateway's or the dashboard's own URL. */
export function upstreamSettings(leadsBack: (url: string) => boolean): Schema<UpstreamSettings> {
  return v.pipe(
    shape,
    rule(({ upstreams }) => expectConsistent(upstreams, leadsBack)),
  )
}

function expectConsistent(upstreams: readonly UpstreamSetting[], leadsBack: (url: string) => boolean): void {
  atMost(upstreams, mostUpstreams, ['upstreams'], 'upstreams')
  const names = new Set<string>()
  const patterns: {
    readonly text: string
    readonly matches: (name: string) => boolean
    readonly of: string
  }[] = []
  for (const [index, { name: own, urls, models = [] }] of upstreams.entries()) {
    const at = (...steps: JsonPath): JsonPath => ['upstreams', index, ...steps]
    if (reservedNames.has(own)) throw flaw(at('name'), `cannot be ${own}: paths already begin with it`)
    if (names.has(own)) throw flaw(at('name'), `is the name of an upstream before it: ${own}`)
    names.add(own)
    atMost(urls, mostUrls, at('urls'), 'URLs')
    for (const [place, url] of urls.entries()) {
      if (leadsBack(url)) throw flaw(at('urls', place), `leads back to this gateway or its dashboard: ${url}`)
      if (urls.indexOf(url) < place) throw flaw(at('urls', place), `is in the list already: ${url}`)
    }
    for (const [place, text] of models.entries()) {
      const earlier = patterns.find(({ matches }) => matches(text))
      if (earlier !== undefined) {
        const words = `never matches: ${earlier.text} of ${earlier.of} matches all its models`
        throw flaw(at('models', place), words)
      }
      patterns.push({ text, matches: patternMatcher(text), of: own })
    }
  }
  atMost(patterns, mostPatterns, ['upstreams'], 'patterns of models')
  for (const [index, { name: own, fallback: to }] of upstreams.entries()) {
    const target = typeof to === 'object' ? to.to : to
    if (target === undefined) continue
    const at = ['upstreams', index, 'fallback', ...(typeof to === 'object' ? ['to'] : [])]
    if (target === own) throw flaw(at, 'is the upstream itself')
    if (target === defaultName || names.has(target)) continue
    const targets = [defaultName, ...names].filter((name) => name !== own).join(', ')
    throw flaw(at, `names an unknown upstream: ${target}; known are ${targets}`)
  }
}

/**
 * Returns a function that is true for names that a pattern matches; `*` stands for any characters. If a
 * pattern matches the text of another one, it matches every name that the other matches.
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
      const partAt = name.indexOf(part, at)
      if (partAt < 0 || partAt + part.length > end) return false
      at = partAt + part.length
    }
    return true
  }
}

function atMost(list: readonly unknown[], most: number, path: JsonPath, what: string): void {
  if (list.length > most) throw flaw(path, `has ${list.length} ${what}; ${most} are the most`)
}

function flaw(path: JsonPath, words: string): JsonValueError {
  return new JsonValueError(words, path)
}
