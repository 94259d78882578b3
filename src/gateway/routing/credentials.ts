import { isAbsolute, join } from 'node:path'
import type { RawHeaders } from '../../call/response-head.ts'
import { messageOf } from '../../lib/errors.ts'
import { readText } from '../../lib/files/read-file.ts'
import { remembered } from '../../lib/remembered.ts'
import type { UpstreamCredentials } from '../../options/upstream-settings.ts'
import { maskKeys, secretMark } from '../../secrets/key-shapes.ts'
import { isSecretHeader, isSecretParameter } from '../../secrets/secret-headers.ts'
import { usualSessionPlaces } from '../http/caller-headers.ts'
import { headerPairs, headersWithout } from '../../lib/http/header-list.ts'
import { type RequestHead, withoutKeys } from '../http/request-head.ts'
import type { Endpoint } from './replicas.ts'

/** Reads keys from variables and files. */
export interface KeyPlaces {
  readonly variable: (name: string) => string | undefined
  /** The folder for relative paths. */
  readonly folder: string
}

/** A setting that names the gateway's own key for an upstream. */
export type KeySource = Exclude<UpstreamCredentials, string>

const mostKeyBytes = 64 * 1024

/** The header for `UPSTREAM_API_KEY`: `x-api-key` for Anthropic, else `Authorization`. */
export function keyHeader(key: string | null, host: string): RawHeaders {
  if (key === null || key === '') return []
  return host === 'api.anthropic.com' ? ['x-api-key', key] : ['Authorization', `Bearer ${key}`]
}

/** The header for the gateway's own key of an upstream. */
export function keyHeaderOf({ header }: KeySource, key: string, host: string): RawHeaders {
  if (header === undefined) return keyHeader(key, host)
  return [header, header.toLowerCase() === 'authorization' ? `Bearer ${key}` : key]
}

/** The key; an Error with the reason if it cannot be read. */
export function keyOf(source: KeySource, { variable, folder }: KeyPlaces): string | Error {
  let key = ''
  if ('env' in source) {
    key = variable(source.env) ?? ''
    if (key === '')
      return new Error(
        `the variable ${source.env} is not set; set it where the gateway or its dashboard starts, and restart the gateway.`,
      )
  } else {
    try {
      key = readText(isAbsolute(source.file) ? source.file : join(folder, source.file), mostKeyBytes).trim()
    } catch (error) {
      return new Error(`its file cannot be read: ${messageOf(error)}.`)
    }
  }
  return /^[\x21-\x7e]+$/.test(key)
    ? key
    : new Error('it is empty, or has characters that a header cannot have.')
}

/** Longest value in the cache, in characters. */
const longestRemembered = 300

/** True for a header with a credential, by its name. Some session headers have similar names. */
const isCredential = remembered((name) => {
  const lower = name.toLowerCase()
  return isSecretHeader(lower) && !usualSessionPlaces.ranks.has(lower)
})
const holdsKey = remembered((value) => maskKeys(value) !== value, longestRemembered)

/** Shorter values may be words. */
const shortestCredential = 8

/**
 * Masks a request's own credentials in a text, whatever form they have: the client's, which are found by the names of
 * their headers, and the gateway's key.
 */
export function maskOwnCredentials(text: string, headers: RawHeaders, keyHeader: RawHeaders): string {
  const clients = headerPairs(headers).filter(([name]) => isCredential(name))
  return [...clients, ...headerPairs(keyHeader)]
    .map(([, value]) => value.replace(/^[\w-]+[ \t]+/, ''))
    .filter(({ length }) => length >= shortestCredential)
    .reduce((masked, credential) => masked.replaceAll(credential, secretMark), text)
}

/**
 * The headers without the client's credentials, which are found by name and by form. `keyHeader`: the gateway's key
 * for the upstream, which takes the place of a client's.
 */
export function headersWithoutCredentials(headers: RawHeaders, [keyName = '']: RawHeaders): string[] {
  const ownName = keyName.toLowerCase()
  return headersWithout(
    headers,
    (name, value) => isCredential(name) || name.toLowerCase() === ownName || holdsKey(value),
  )
}

/** A client's headers as an endpoint gets them, with the gateway's key for it if the call uses that. */
export function headersAt(
  { endToEnd, hasEmptyCredential }: Pick<RequestHead, 'endToEnd' | 'hasEmptyCredential'>,
  { keyHeader, stripsCredentials }: Pick<Endpoint, 'keyHeader' | 'stripsCredentials'>,
  usesGatewayKey: boolean,
): readonly string[] {
  const sent = usesGatewayKey && hasEmptyCredential ? withoutKeys(endToEnd) : endToEnd
  const headers = stripsCredentials ? headersWithoutCredentials(sent, keyHeader) : sent
  return usesGatewayKey ? headers.concat(keyHeader) : headers
}

/** The query, with its question mark, without the client's credentials. */
export function queryWithoutCredentials(query: string): string {
  if (query === '') return query
  const pairs = query.slice(1).split(/(?=[&;])/)
  const open = pairs.filter((pair) => !isSecretPair(pair.replace(/^[&;]/, '')))
  if (open.length === pairs.length) return query
  return open.length === 0 ? '' : `?${open.join('').replace(/^[&;]/, '')}`
}

function isSecretPair(pair: string): boolean {
  const [name = ''] = pair.split('=', 1)
  if (usualSessionPlaces.ranks.has(name.toLowerCase())) return false
  return isSecretParameter(name) || holdsKey(pair)
}
