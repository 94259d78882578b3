import { RequestProblem } from './request-problem.ts'

/** What values a query parameter takes. */
export interface QueryParameter<T> {
  /** Completes "lines must be …". */
  readonly range: string
  /** The value where the parameter is absent; `undefined` where it may not be. */
  readonly default: T | undefined
  /** Whether it may be given more than once; `parse` is then asked about each, in turn. */
  readonly isRepeatable?: boolean
  /** `before` is what an earlier mention gave. `undefined`: out of range. */
  readonly parse: (text: string, before: T | undefined) => T | undefined
}

/** The parameters of a route, by their names. */
export type QueryTable<Q> = { readonly [K in keyof Q]: QueryParameter<Q[K]> }

/** A whole number within bounds, both included. */
export function wholeNumber(min: number, max: number, byDefault?: number): QueryParameter<number> {
  return {
    range: `a whole number from ${min} to ${max}`,
    default: byDefault,
    parse: (text) => {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : -1
      return value >= min && value <= max ? value : undefined
    },
  }
}

/** One or more of a few words, with commas between them. */
export function someOf(words: readonly string[]): QueryParameter<readonly string[]> {
  return {
    range: `one or more of ${words.join(', ')}, with commas between them`,
    default: undefined,
    parse: (text) => {
      const asked = text.split(',')
      return asked.every((word) => words.includes(word)) ? [...new Set(asked)] : undefined
    },
  }
}

/** One of a few words. */
export function oneOf<Word extends string>(words: readonly Word[], byDefault?: Word): QueryParameter<Word> {
  return {
    range: `one of ${words.join(', ')}`,
    default: byDefault,
    parse: (text) => words.find((word) => word === text),
  }
}

/** A switch. */
export function yesOrNo(byDefault: boolean): QueryParameter<boolean> {
  return {
    range: 'true, false, 1 or 0',
    default: byDefault,
    parse: (text) =>
      ['true', '1'].includes(text) ? true : ['false', '0'].includes(text) ? false : undefined,
  }
}

/** Any text of some length, such as a name. */
export function someText(what: string, maxLength: number): QueryParameter<string> {
  return {
    range: `${what} of 1 to ${maxLength} characters`,
    default: undefined,
    parse: (text) => (text.length >= 1 && text.length <= maxLength ? text : undefined),
  }
}

/** A number that is not negative, with or without a fraction. */
export function measure(): QueryParameter<number> {
  return {
    range: 'a number of at least 0, such as 250 or 0.5',
    default: undefined,
    parse: (text) => (/^\d{1,12}(?:\.\d{1,9})?$/.test(text) ? Number(text) : undefined),
  }
}

/** A parameter that may be absent, which counts as null. */
export function optional<T>(parameter: QueryParameter<T>): QueryParameter<T | null> {
  return { range: parameter.range, default: null, parse: (text) => parameter.parse(text, undefined) }
}

/** A parameter that may be absent, which counts as null, or given more than once: each value then counts, once. */
export function repeatable<T>(parameter: QueryParameter<T>): QueryParameter<readonly T[] | null> {
  return {
    range: parameter.range,
    default: null,
    isRepeatable: true,
    parse: (text, before) => {
      const value = parameter.parse(text, undefined)
      return value === undefined ? undefined : [...new Set([...(before ?? []), value])]
    },
  }
}

/** The query by its table. Throws {@link RequestProblem} at what is unknown, missing, repeated or out of range. */
export function readQuery<Q>(query: Readonly<Record<string, unknown>>, table: QueryTable<Q>): Q {
  const known = Object.keys(table)
  for (const name of Object.keys(query)) {
    if (!known.includes(name)) {
      const takes = known.length === 0 ? 'none is taken here' : `what is taken is ${known.join(', ')}`
      throw new RequestProblem(400, 'unknown_parameter', `${shown(name)} is no parameter; ${takes}.`, {
        param: name,
      })
    }
  }
  const values: Partial<Q> = {}
  for (const name in table) values[name] = valueOf(name, query[name], table[name])
  return values as Q
}

function valueOf<T>(name: string, got: unknown, parameter: QueryParameter<T>): T {
  const { range, default: byDefault, isRepeatable = false } = parameter
  if (got === undefined) return byDefault === undefined ? refuse(name, range, 'nothing') : byDefault
  const texts: readonly unknown[] = isRepeatable && Array.isArray(got) ? got : [got]
  let value: T | undefined
  for (const text of texts) {
    value = typeof text === 'string' ? parameter.parse(text, value) : undefined
    if (value === undefined) refuse(name, range, shown(text))
  }
  return value === undefined ? refuse(name, range, 'nothing') : value
}

function refuse(name: string, range: string, got: string): never {
  throw new RequestProblem(400, 'invalid_parameter', `${name} must be ${range}; got ${got}`, { param: name })
}

function shown(value: unknown): string {
  return JSON.stringify(value).slice(0, 100)
}
