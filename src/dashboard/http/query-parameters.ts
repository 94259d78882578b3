import type { ValueKind } from '../../options/value-kind.ts'
import { RequestProblem } from './request-problem.ts'

/** A query parameter: a kind alone must be given once. */
export interface QueryParameter<T> extends Pick<ValueKind<T>, 'range' | 'parse'> {
  /** The value if the parameter is absent. */
  readonly default?: T
  /** Whether it may be given more than once; `parse` is then asked about each, in turn. */
  readonly isRepeatable?: boolean
}

/** The parameters of a route, by their names. */
export type QueryTable<Q> = { readonly [K in keyof Q]: QueryParameter<Q[K]> }

/** A parameter that may be absent, which counts as this value. */
export function or<T>(kind: ValueKind<T>, byDefault: T): QueryParameter<T> {
  return { ...kind, default: byDefault }
}

/** A parameter that may be absent, which counts as null. */
export function optional<T>({ range, parse }: QueryParameter<T>): QueryParameter<T | null> {
  return { range, default: null, parse: (text) => parse(text) }
}

/** A parameter that may be absent, which counts as null, or given more than once: each value then counts, once. */
export function repeatable<T>({ range, parse }: QueryParameter<T>): QueryParameter<readonly T[] | null> {
  return {
    range,
    default: null,
    isRepeatable: true,
    parse: (text, earlier) => {
      const value = parse(text)
      return value === undefined ? undefined : [...new Set([...(earlier ?? []), value])]
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
