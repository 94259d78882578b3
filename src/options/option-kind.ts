import { isIP } from 'node:net'
import { parseIsoInstant } from '../lib/iso-instant.ts'
import { isTimeZone } from '../lib/zoned-time.ts'

/** What values an option takes, and how they are read and shown. */
export interface OptionKind<T> {
  /** What stands for the value in `--help`; `null` for a switch, which takes none. */
  readonly placeholder: string | null
  /** Completes "--port must be …". */
  readonly range: string
  /** All values that there are, where they are words. */
  readonly choices?: readonly string[]
  /** `previous` is what the option's earlier mention gave, for kinds that collect. `undefined`: out of range. */
  parse(text: string, previous: T | undefined): T | undefined
  show(value: T): string
}

/** A whole number within bounds, both included. */
export function integer(min: number, max: number): OptionKind<number> {
  return {
    placeholder: '<n>',
    range: `a whole number from ${min} to ${max}`,
    parse: (text) => {
      if (!/^\d{1,16}$/.test(text)) return undefined
      const value = Number(text)
      return value >= min && value <= max ? value : undefined
    },
    show: String,
  }
}

/** One of a few words. */
export function oneOf<const T extends string>(words: readonly T[]): OptionKind<T> {
  return {
    placeholder: `<${words.join('|')}>`,
    range: `one of ${words.join(', ')}`,
    choices: words,
    parse: (text) => words.find((word) => word === text),
    show: String,
  }
}

/** `on` or `off`. */
export function onOff(): OptionKind<boolean> {
  return {
    placeholder: '<on|off>',
    range: 'on or off',
    parse: (text) => (text === 'on' ? true : text === 'off' ? false : undefined),
    show: (value) => (value ? 'on' : 'off'),
  }
}

/** `on` or `off`; the flag alone means on. */
export function switched(): OptionKind<boolean> {
  return {
    placeholder: '[on|off]',
    range: 'on or off',
    parse: (text) =>
      text === 'on' || text === 'true' ? true : text === 'off' || text === 'false' ? false : undefined,
    show: (value) => (value ? 'on' : 'off'),
  }
}

/** Of which calls something is kept: kept as it was written. */
export function captureRule(): OptionKind<string> {
  return {
    placeholder: '<rule>',
    range: 'all, errors, or sample:1/<n> with n from 1 to 1000000, such as sample:1/10 for one call in ten',
    parse: (text) => {
      const [, every] = /^sample:1\/(\d{1,7})$/.exec(text) ?? []
      const isSample = every !== undefined && Number(every) >= 1 && Number(every) <= 1_000_000
      return isSample || text === 'all' || text === 'errors' ? text : undefined
    },
    show: String,
  }
}

/** Given or not. */
export function toggle(): OptionKind<boolean> {
  return {
    placeholder: null,
    range: 'true or false',
    parse: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
    show: (value) => (value ? 'on' : 'off'),
  }
}

/** A file's path, relative to the working directory; `null` for none. */
export function optionalPath(): OptionKind<string | null> {
  return { ...path(), show: (value) => value ?? 'none' }
}

/** A file's path, relative to the working directory. */
export function path(): OptionKind<string> {
  return {
    placeholder: '<path>',
    range: 'a path',
    parse: (text) => (text === '' || text.includes('\0') ? undefined : text),
    show: String,
  }
}

/** An address to bind, or a name that stands for one. An IPv6 address may come in brackets. */
export function bindAddress(): OptionKind<string> {
  return {
    placeholder: '<address>',
    range: 'an IP address or a host name',
    parse: (text) => {
      const address = /^\[([\da-f:.]+)\]$/i.exec(text)?.[1] ?? text
      // Digits and dots, or a colon, are in no name.
      const isName = /^[\w.-]+$/.test(address) && !/^[\d.]+$/.test(address)
      return isName || isIP(address) !== 0 ? address : undefined
    },
    show: String,
  }
}

/** Where something is read from: an http or https URL, or a file's path. */
export function urlOrPath(): OptionKind<string> {
  return {
    placeholder: '<source>',
    range: 'an http or https URL without user and password, or a path',
    parse: (text) => {
      if (text === '' || text.includes('\0')) return undefined
      if (!/^[a-z][a-z\d+.-]+:\/\//i.test(text)) return text
      const url = URL.parse(text)
      const isOurs = url !== null && /^https?:$/.test(url.protocol) && !/[\s\\]/.test(text)
      return isOurs && url.username === '' && url.password === '' ? text : undefined
    },
    show: String,
  }
}

/** The base URL of an API, kept as it was written. */
export function baseUrl(): OptionKind<string> {
  return {
    placeholder: '<url>',
    range: 'an http or https URL without user, password, query and fragment',
    parse: (text) => {
      const url = URL.parse(text)
      if (url === null || !/^https?:\/\//i.test(text) || /[\s?#\\]/.test(text)) return undefined
      return url.username === '' && url.password === '' ? text : undefined
    },
    show: String,
  }
}

/** As {@link baseUrl}; `null` for none. */
export function optionalBaseUrl(): OptionKind<string | null> {
  return { ...baseUrl(), show: (value) => value ?? 'none' }
}

/** The name of a model, `null` for none. */
export function modelName(): OptionKind<string | null> {
  return {
    placeholder: '<name>',
    range: 'a model name',
    parse: (text) => (/\S/.test(text) ? text : undefined),
    show: (value) => value ?? 'none',
  }
}

/** Names of models, one in each mention. */
export function modelNames(): OptionKind<readonly string[]> {
  return {
    placeholder: '<name>',
    range: 'a model name',
    parse: (text, previous = []) => (/\S/.test(text) ? [...previous, text] : undefined),
    show: showList,
  }
}

/** Names of hosts, over any number of mentions, each of which may list several with commas. */
export function hostNames(): OptionKind<readonly string[]> {
  return {
    placeholder: '<name>',
    range: 'a host name without scheme, port and path',
    parse: (text, previous = []) => {
      const names = text.split(',').map((name) => name.trim().toLowerCase())
      return names.every((name) => /^[a-z\d._-]+$/.test(name)) ? [...previous, ...names] : undefined
    },
    show: showList,
  }
}

function showList(texts: readonly string[]): string {
  return texts.length === 0 ? 'none' : texts.join(', ')
}

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** An instant in milliseconds since the Unix epoch, `null` for none. */
export function instant(): OptionKind<number | null> {
  return {
    placeholder: '<time>',
    range: 'an instant in ISO 8601 such as 2026-11-21T04:00:00Z, or a day of UTC such as 2026-11-21',
    parse: (text) => parseIsoInstant(text) ?? undefined,
    show: (value) => (value === null ? 'none' : new Date(value).toISOString()),
  }
}

/** The name of an IANA time zone. */
export function timeZone(): OptionKind<string> {
  return {
    placeholder: '<zone>',
    range: 'an IANA time zone, such as Europe/Berlin',
    parse: (text) => (isTimeZone(text) ? text : undefined),
    show: String,
  }
}

/** A length of time in milliseconds, `null` for no bound. */
export function age(): OptionKind<number | null> {
  return {
    placeholder: '<age>',
    range: 'a number of seconds, minutes, hours or days such as 90s, 15m, 1h or 7d',
    parse: (text) => {
      const [, count = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
      const ms = Number(count) * (unitMs[unit] ?? 0)
      return ms > 0 ? ms : undefined
    },
    show: (value) => (value === null ? 'none' : `${value / 1000}s`),
  }
}
