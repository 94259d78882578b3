import type { ValueKind } from '../../options/value-kind.ts'
import type { JsonSchema } from '../../options/json-schema.ts'
import { RequestError } from './request-error.ts'

/** A query parameter. By default it must be given exactly once. */
export interface QueryParameter<T> extends Pick<ValueKind<T>, 'range' | 'parse' | 'choices' | 'schema'> {
  /** The description, if the name is not enough. */
  readonly doc?: string
  /** The value if the parameter is absent. */
  readonly default?: T
  /** True if the parameter may be repeated. `parse` then gets each value in turn. */
  readonly isRepeatable?: boolean
}

/** The parameters of a route, by their names. */
export type QueryTable<Q> = { readonly [K in keyof Q]: QueryParameter<Q[K]> }

/** The values of a table of parameters. */
export type QueryOf<T> = T extends QueryTable<infer Q> ? Q : never

/** A parameter with a default. */
export function or<T>(kind: ValueKind<T>, byDefault: T): QueryParameter<T> {
  return { ...kind, default: byDefault }
}

/** A parameter with the default null. */
export function optional<T>(parameter: QueryParameter<T>): QueryParameter<T | null> {
  return { ...parameter, default: null, parse: (text) => parameter.parse(text) }
}

/** A parameter that may be repeated (default: null). Equal values count once. */
export function repeatable<T>(parameter: QueryParameter<T>): QueryParameter<readonly T[] | null> {
  return {
    ...parameter,
    default: null,
    isRepeatable: true,
    parse: (text, earlier) => {
      const value = parameter.parse(text)
      return value === undefined ? undefined : [...new Set([...(earlier ?? []), value])]
    },
  }
}

/** A parameter with a description. */
export function meaning<T>(doc: string, parameter: QueryParameter<T>): QueryParameter<T> {
  return { ...parameter, doc }
}

/** The JSON schema of a parameter; for a repeatable one, that of a list. */
export function parameterSchema(parameter: QueryParameter<unknown>): JsonSchema {
  const { choices, doc, range, schema, default: byDefault = null, isRepeatable = false } = parameter
  const valueSchema = schema ?? { type: 'string', ...(choices === undefined ? {} : { enum: choices }) }
  const description = doc === undefined ? range : `${doc}: ${range}`
  const fallback = byDefault === null ? {} : { default: byDefault }
  return { ...(isRepeatable ? { type: 'array', items: valueSchema } : valueSchema), description, ...fallback }
}

/** Reads a query by its table. Throws {@link RequestError} at an unknown, missing, repeated or invalid parameter. */
export function readQuery<Q>(query: Readonly<Record<string, unknown>>, table: QueryTable<Q>): Q {
  const names = Object.keys(table)
  for (const name of Object.keys(query)) {
    if (!names.includes(name)) {
      const takes = names.length === 0 ? 'this route has none' : `known are ${names.join(', ')}`
      throw new RequestError('unknown_parameter', `${shown(name)} is not a parameter; ${takes}.`, {
        param: name,
      })
    }
  }
  const values: Partial<Q> = {}
  for (const name in table) values[name] = readParameter(name, table[name], query[name])
  return values as Q
}

/** Reads one value. Throws {@link RequestError} if it is missing, repeated or invalid. */
export function readParameter<T>(name: string, parameter: QueryParameter<T>, got: unknown): T {
  const { range, default: byDefault, isRepeatable = false } = parameter
  if (got === undefined && byDefault !== undefined) return byDefault
  const texts: readonly unknown[] = isRepeatable && Array.isArray(got) ? got : [got]
  let value: T | undefined
  for (const text of texts) {
    value = typeof text === 'string' ? parameter.parse(text, value) : undefined
    if (value === undefined) {
      const shownText = text === undefined ? 'nothing' : shown(text)
      throw invalidParameter(name, `${name} must be ${range}; got ${shownText}`)
    }
  }
  return value as T
}

/** The refusal of a parameter's value. */
export function invalidParameter(param: string, message: string): RequestError {
  return new RequestError('invalid_parameter', message, { param })
}

function shown(value: unknown): string {
  return JSON.stringify(value).slice(0, 100)
}
