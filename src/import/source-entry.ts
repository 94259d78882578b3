import { textHash } from '../lib/text-hash.ts'
import { isObject } from '../lib/message-shape.ts'
import type { Fields } from './field-values.ts'

/**
 * The identity of a source's row: a hash of its fields, of 63 bits. A row has the same identity as CSV, as JSON and
 * in a database, with any order of columns.
 */
export function identityOfEntry(source: string, fields: Fields, part: number): bigint {
  const hashedFields = Object.fromEntries(Object.entries(fields).filter(([name]) => !bodies.has(name)))
  return textHash(`${source}\n${part}\n${plain(hashedFields)}`)
}

/** Fields with prompts, answers or keys, which are never read. */
export const bodies: ReadonlySet<string> = new Set([
  'messages',
  'response',
  'proxy_server_request',
  'request_body',
  'response_body',
  'api_key',
])

function plain(value: unknown): string {
  if (typeof value === 'string') return plainText(value)
  if (Array.isArray(value)) return `[${value.map(plain).join()}]`
  if (!isObject(value)) return String(value)
  const members = Object.keys(value).flatMap((name) => {
    const member = value[name]
    return member === null || member === undefined || member === '' ? [] : [`${name}:${plain(member)}`]
  })
  return `{${members.sort().join()}}`
}

/** A normalised text: numbers, instants, objects and arrays have the same text in every form. */
function plainText(text: string): string {
  const first = text.charAt(0)
  if (first === '{' || first === '[') {
    try {
      return plain(JSON.parse(text))
    } catch {
      return JSON.stringify(text)
    }
  }
  if (/^-?\d/.test(text)) {
    if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[-+]?\d+)?$/i.test(text) && text.length < 16)
      return String(Number(text))
    const instant = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d+)?)(?:Z|[+]00(?::?00)?)?$/.exec(text)
    if (instant !== null) return `${instant[1]}T${instant[2]?.replace(/\.0*$|(\.\d*[1-9])0+$/, '$1')}`
  }
  return JSON.stringify(text)
}
