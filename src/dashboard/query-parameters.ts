import { RequestProblem } from './request-problem.ts'

/** What values a query parameter takes. */
export interface QueryParameter<T> {
  /** Completes "lines must be …". */
  readonly range: string
  /** The value where the parameter is absent; `undefined` where it may not be. */
  readonly default: T | undefined
  /** `undefined`: out of range. */
  readonly parse: (text: string) => T | undefined
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

function valueOf<T>(name: string, got: unknown, { range, default: byDefault, parse }: QueryParameter<T>): T {
  const value = got === undefined ? byDefault : typeof got === 'string' ? parse(got) : undefined
  if (value !== undefined) return value
  const what = got === undefined ? 'nothing' : shown(got)
  throw new RequestProblem(400, 'invalid_parameter', `${name} must be ${range}; got ${what}`, { param: name })
}

function shown(value: unknown): string {
  return JSON.stringify(value).slice(0, 100)
}
