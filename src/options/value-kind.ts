import { isIP } from 'node:net'
import type { ConfigOption } from '../api/proxy-config.ts'
import { parseIsoInstant } from '../lib/iso-instant.ts'
import { count } from '../lib/number-format.ts'
import { wholeNumber } from '../lib/typed-number.ts'
import { isTimeZone } from '../lib/zoned-time.ts'
import type { JsonSchema } from './json-schema.ts'

/** The unit of a number. */
type Unit = NonNullable<ConfigOption['unit']>

/** A kind of value, and its text form in a flag, a variable, a query parameter, or a setting. */
export interface ValueKind<T> {
  /** The placeholder of the value in `--help`; `null` for a switch without a value. */
  readonly placeholder: string | null
  /** The allowed values: completes "--port must be …". */
  readonly range: string
  /** All values, if they are words. */
  readonly choices?: readonly string[]
  /** Bounds of a whole number, both included, and its unit. */
  readonly number?: { readonly min: number; readonly max: number; readonly unit: Unit | null }
  /** The schema of a value other than free text or `choices`. */
  readonly schema?: JsonSchema
  /** True if a value may be a secret: messages do not repeat it. */
  readonly isSecret?: true
  /** The value, or `undefined` if the text is out of range. `earlier` is the value of an earlier mention, for kinds that collect values. */
  parse(text: string, earlier?: T): T | undefined
}

function kind<T>(
  placeholder: string | null,
  range: string,
  parse: (text: string, earlier?: T) => T | undefined,
): ValueKind<T> {
  return { placeholder, range, parse }
}

/** A kind for texts that pass a check, without conversion. */
export function textKind(
  placeholder: string,
  range: string,
  isGood: (text: string) => boolean,
): ValueKind<string> {
  return kind(placeholder, range, (text) => (isGood(text) ? text : undefined))
}

/** A whole number within bounds, both included. */
export function integer(min: number, max: number, unit: Unit | null = null): ValueKind<number> {
  const parse = (text: string): number | undefined => {
    const value = wholeNumber(text) ?? -1
    return value >= min && value <= max ? value : undefined
  }
  const schema = { type: 'integer', minimum: min, maximum: max }
  return {
    ...kind('<n>', `a whole number from ${count(min)} to ${count(max)}`, parse),
    number: { min, max, unit },
    schema,
  }
}

/** A whole number within bounds, both included, or `none`. */
export function integerOrNone(min: number, max: number): ValueKind<number | 'none'> {
  const number = integer(min, max)
  return {
    number: { min, max, unit: null },
    placeholder: '<n|none>',
    range: `${number.range}, or none`,
    parse: (text) => (text === 'none' ? text : number.parse(text)),
  }
}

/** A number of at least 0, with or without a fraction. */
export const measure: ValueKind<number> = {
  ...kind('<n>', 'a number of at least 0, such as 250 or 0.5', (text) =>
    /^\d{1,12}(?:\.\d{1,9})?$/.test(text) ? Number(text) : undefined,
  ),
  schema: { type: 'number', minimum: 0 },
}

/** A value that is one of these words. */
export function oneOf<const T extends string>(words: readonly T[]): ValueKind<T> {
  const parse = (text: string): T | undefined => words.find((word) => word === text)
  return { ...kind(`<${words.join('|')}>`, `one of ${words.join(', ')}`, parse), choices: words }
}

/** A value of one or more of these words, separated by commas. */
export function someOf(words: readonly string[]): ValueKind<readonly string[]> {
  const range = `one or more of ${words.join(', ')}, with commas between them`
  return kind('<words>', range, (text) => {
    const values = text.split(',')
    return values.every((word) => words.includes(word)) ? [...new Set(values)] : undefined
  })
}

/** A boolean, with its words for true and false. */
function flag(
  placeholder: string | null,
  range: string,
  yes: readonly string[],
  no: readonly string[],
): ValueKind<boolean> {
  const parse = (text: string): boolean | undefined =>
    yes.includes(text) ? true : no.includes(text) ? false : undefined
  return { ...kind(placeholder, range, parse), schema: { type: 'boolean' } }
}

/** `on` or `off`. */
export const onOff: ValueKind<boolean> = flag('<on|off>', 'on or off', ['on'], ['off'])

/** `on` or `off`; the flag alone means on. */
export const switched: ValueKind<boolean> = flag('[on|off]', 'on or off', ['on', 'true'], ['off', 'false'])

/** A switch: true if it is given. */
export const toggle: ValueKind<boolean> = flag(null, 'true or false', ['true'], ['false'])

/** A boolean query parameter. */
export const trueFalse: ValueKind<boolean> = flag(
  '<bool>',
  'true, false, 1 or 0',
  ['true', '1'],
  ['false', '0'],
)

/** A text of limited length, such as a name. NUL is not allowed, because arguments of a process cannot contain it. */
export function shortText(what: string, maxLength: number): ValueKind<string> {
  const range = `${what} of 1 to ${maxLength} characters, none of them NUL`
  return textKind(
    '<text>',
    range,
    (text) => text.length >= 1 && text.length <= maxLength && !text.includes('\0'),
  )
}

/** The calls whose payloads are kept. */
export const captureRule: ValueKind<string> = textKind(
  '<rule>',
  'all, errors, or sample:1/<n> with n from 1 to 1,000,000, such as sample:1/10 for one call in ten',
  (text) => {
    const [, every] = /^sample:1\/(\d{1,7})$/.exec(text) ?? []
    return text === 'all' || text === 'errors' || (Number(every) >= 1 && Number(every) <= 1_000_000)
  },
)

/** A file's path, relative to the working directory. */
export const path: ValueKind<string> = textKind(
  '<path>',
  'a path',
  (text) => text !== '' && !text.includes('\0'),
)

/** An address to bind, or a host name. An IPv6 address may be in brackets. */
export const bindAddress: ValueKind<string> = kind('<address>', 'an IP address or a host name', (text) => {
  const address = /^\[([\da-f:.]+)\]$/i.exec(text)?.[1] ?? text
  // A name is not only digits and dots, and has no colon.
  const isName = /^[\w.-]+$/.test(address) && !/^[\d.]+$/.test(address)
  return isName || isIP(address) !== 0 ? address : undefined
})

/** A source to read: an http or https URL, or a file's path. */
export const urlOrPath: ValueKind<string> = textKind(
  '<source>',
  'an http or https URL without user and password, or a path',
  (text) => (/^[a-z][a-z\d+.-]+:\/\//i.test(text) ? isOpenUrl(text) : text !== '' && !text.includes('\0')),
)

/** The URL that messages are posted to. Everything but its host may be a secret. */
export const webhookUrl: ValueKind<string> = {
  ...textKind(
    '<url>',
    'an http or https URL',
    (text) => /^https?:\/\/[^\s\\]+$/i.test(text) && URL.canParse(text),
  ),
  isSecret: true,
}

/** The base URL of an API. */
export const baseUrl: ValueKind<string> = textKind(
  '<url>',
  'an http or https URL without user, password, query and fragment',
  (text) => isOpenUrl(text) && !/[?#]/.test(text),
)

/** The path of a single call, which people sometimes paste instead of the base URL. */
const callPath = /\/(?:chat\/completions|completions|responses|messages|embeddings|rerank)\/*$/
const secretName = /key|token|secret|pass|auth|sig|^code$/i

/** The base URL of an API that calls are forwarded to. */
export const upstreamUrl: ValueKind<string> = textKind(
  '<url>',
  'an http or https URL such as http://localhost:11434, without user, password, key, fragment and the path of a call (as /chat/completions)',
  (text) => {
    if (!isOpenUrl(text) || text.includes('#')) return false
    const { pathname, searchParams } = new URL(text)
    return !callPath.test(pathname) && [...searchParams.keys()].every((name) => !secretName.test(name))
  },
)

/** The address of a receiving service; `none` for no service. */
export const receiverUrl: ValueKind<string> = textKind(
  '<url>',
  `${baseUrl.range}, or none`,
  (text) => text === 'none' || baseUrl.parse(text) !== undefined,
)

function isOpenUrl(text: string): boolean {
  const url = /^https?:\/\//i.test(text) && !/[\s\\\0]/.test(text) ? URL.parse(text) : null
  return url !== null && url.username === '' && url.password === ''
}

/** The name of a model. */
export const modelName: ValueKind<string> = textKind('<name>', 'a model name', (text) => /\S/.test(text))

/** Names, collected from any number of mentions. */
export function names(what: string): ValueKind<readonly string[]> {
  return kind('<name>', what, (text, earlier = []) => (/\S/.test(text) ? [...earlier, text] : undefined))
}

/** Words in small letters, collected from any number of mentions. Each mention may list several, separated by commas. */
function smallWords(range: string, isGood: (word: string) => boolean): ValueKind<readonly string[]> {
  return kind('<name>', range, (text, earlier = []) => {
    const words = text.split(',').map((word) => word.trim().toLowerCase())
    return words.every(isGood) ? [...earlier, ...words] : undefined
  })
}

/** Host names. */
export const hostNames: ValueKind<readonly string[]> = smallWords(
  'a host name without scheme, port and path',
  (name) => /^[a-z\d._-]+$/.test(name),
)

/** Names of headers with credentials. */
const credentialHeader = /^(?:(?:proxy-)?authorization|(?:set-)?cookie2?|.*(?:api-?key|token|secret).*)$/

/** Names of headers without credentials. */
export const sessionHeaders: ValueKind<readonly string[]> = smallWords(
  'the name of a header that holds no credential, or none',
  (name) => /^[\w!#$%&'*+.^`|~-]{1,100}$/.test(name) && !credentialHeader.test(name),
)

/** An instant in milliseconds since the Unix epoch. */
export const instant: ValueKind<number> = kind(
  '<time>',
  'an instant in ISO 8601 such as 2026-11-21T04:00:00Z, or a day of UTC such as 2026-11-21',
  (text) => parseIsoInstant(text) ?? undefined,
)

/** The name of an IANA time zone. */
export const timeZone: ValueKind<string> = textKind(
  '<zone>',
  'an IANA time zone, such as Europe/Berlin',
  isTimeZone,
)

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A length of time in milliseconds. */
export const age: ValueKind<number> = kind(
  '<age>',
  'a number of seconds, minutes, hours or days such as 90s, 15m, 1h or 7d',
  (text) => {
    const [, count = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
    const ms = Number(count) * (unitMs[unit] ?? 0)
    return ms > 0 ? ms : undefined
  },
)
