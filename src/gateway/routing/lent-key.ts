import { isAbsolute, join } from 'node:path'
import type { RawHeaders } from '../../call/call-observer.ts'
import { messageOf } from '../../lib/errors.ts'
import { readText } from '../../lib/read-file.ts'
import type { UpstreamCredentials } from '../../options/upstream-settings.ts'
import { keyHeader } from '../call/attempt.ts'

/** Where keys are. */
export interface KeyPlaces {
  readonly variable: (name: string) => string | undefined
  /** Paths are relative to it. */
  readonly folder: string
}

/** Where a key of the gateway's own is. */
export type LentFrom = Exclude<UpstreamCredentials, string>

const mostKeyBytes = 64 * 1024

/** The header in which an upstream is sent a key of the gateway's own. */
export function keyHeaderOf({ header }: LentFrom, key: string, host: string): RawHeaders {
  if (header === undefined) return keyHeader(key, host)
  return [header, header.toLowerCase() === 'authorization' ? `Bearer ${key}` : key]
}

/** The key, or why there is none. */
export function keyOf(source: LentFrom, { variable, folder }: KeyPlaces): string | Error {
  let key = ''
  if ('env' in source) {
    key = variable(source.env) ?? ''
    if (key === '')
      return new Error(`the variable ${source.env} is not set; a gateway has the variables of its start.`)
  } else {
    try {
      key = readText(isAbsolute(source.file) ? source.file : join(folder, source.file), mostKeyBytes).trim()
    } catch (error) {
      return new Error(`its file cannot be read: ${messageOf(error)}.`)
    }
  }
  return /^[\x21-\x7e]+$/.test(key) ? key : new Error('it is empty, or holds what no header can hold.')
}
