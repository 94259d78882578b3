import { isAbsolute, join } from 'node:path'
import type { RawHeaders } from '../../call/call-observer.ts'
import { messageOf } from '../../lib/errors.ts'
import type { UpstreamCredentials } from '../../options/upstream-settings.ts'
import { keyHeader } from '../call/attempt.ts'

/** Where keys are. */
export interface KeyPlaces {
  readonly variable: (name: string) => string | undefined
  /** The text of a file; throws if it cannot be read. */
  readonly readFile: (path: string) => string
  /** Paths are relative to it. */
  readonly folder: string
}

/** The header in which an upstream is sent a key of the gateway's own; nothing if it is to have none, or why there is none. */
export function keyHeaderOf(
  credentials: UpstreamCredentials,
  host: string,
  places: KeyPlaces,
): RawHeaders | Error {
  if (typeof credentials === 'string') return []
  const key = keyOf(credentials, places)
  if (key instanceof Error) return key
  const { header } = credentials
  if (header === undefined) return keyHeader(key, host)
  return [header, header.toLowerCase() === 'authorization' ? `Bearer ${key}` : key]
}

function keyOf(
  source: Exclude<UpstreamCredentials, string>,
  { variable, readFile, folder }: KeyPlaces,
): string | Error {
  let key = ''
  if ('env' in source) {
    key = variable(source.env) ?? ''
    if (key === '')
      return new Error(`the variable ${source.env} is not set; a gateway has the variables of its start.`)
  } else {
    try {
      key = readFile(isAbsolute(source.file) ? source.file : join(folder, source.file)).trim()
    } catch (error) {
      return new Error(`its file cannot be read: ${messageOf(error)}.`)
    }
  }
  return /^[\x21-\x7e]+$/.test(key) ? key : new Error('it is empty, or holds what no header can hold.')
}
