import type { JsonPath } from '../json/json-text.ts'
import { isObject } from '../lib/message-shape.ts'
import type { JsonSchema } from './json-schema.ts'

/** Answers a value of JSON as it is used from here on. Throws {@link JsonValueError} if it is not as it has to be. */
export interface JsonCheck<T> {
  (value: unknown): T
  /** The same as a schema, as far as one tells it. */
  readonly schema?: JsonSchema
  /** A member with this check may be absent. */
  readonly isOptional?: boolean
}

/** A value of JSON is not as it has to be. */
export class JsonValueError extends Error {
  /** From the value that was checked to the one that is wrong. */
  readonly path: JsonPath
  /** The flaw, to be put behind the value's name: "must be …". */
  readonly flaw: string
  /** Completes "… must be"; null if the flaw is of another kind. */
  readonly allowed: string | null
  readonly got: unknown
  /** The side of the member that is wrong. */
  readonly at: 'name' | 'value'

  constructor(flaw: string, details: Partial<Pick<JsonValueError, 'path' | 'allowed' | 'got' | 'at'>> = {}) {
    const path = details.path ?? []
    super(`${pathText(path)} ${flaw}`)
    this.name = 'JsonValueError'
    this.path = path
    this.flaw = flaw
    this.allowed = details.allowed ?? null
    this.got = details.got
    this.at = details.at ?? 'value'
  }

  /** The same of a value that stands under this name or number in another. */
  under(...steps: JsonPath): JsonValueError {
    const { allowed, got, at } = this
    return new JsonValueError(this.flaw, { path: [...steps, ...this.path], allowed, got, at })
  }
}

/** The error for a value that must be something else. */
export function mustBe(allowed: string, got: unknown): JsonValueError {
  return new JsonValueError(`must be ${allowed}; it is ${shown(got)}`, { allowed, got })
}

/** A check with the schema that tells what it takes. */
export function described<T>(
  schema: JsonSchema | undefined,
  check: (value: unknown) => T,
  { isOptional = false }: { readonly isOptional?: boolean } = {},
): JsonCheck<T> {
  return Object.assign((value: unknown) => check(value), { schema: schema ?? {}, isOptional })
}

const absent = { isOptional: true }

/** A value that passes a test, as it is. */
export function only<T>(
  allowed: string,
  isGood: (value: unknown) => value is T,
  schema: JsonSchema = {},
): JsonCheck<T> {
  return described({ ...schema, description: allowed }, (value) => {
    if (isGood(value)) return value
    throw mustBe(allowed, value)
  })
}

export const text: JsonCheck<string> = only(
  'a text that is not empty',
  (value): value is string => typeof value === 'string' && value !== '',
  { type: 'string', minLength: 1 },
)

/** One of a few values. */
export function oneOf<const T extends string | number | boolean>(values: readonly T[]): JsonCheck<T> {
  const allowed = values.map((one) => JSON.stringify(one)).join(' or ')
  return only(allowed, (value): value is T => values.some((one) => one === value), { enum: values })
}

export const flag: JsonCheck<boolean> = oneOf([true, false])

/** A whole number within bounds, both included. */
export function whole(min: number, max: number): JsonCheck<number> {
  return only(
    `a whole number from ${min} to ${max}`,
    (value): value is number => Number.isInteger(value) && Number(value) >= min && Number(value) <= max,
    { type: 'integer', minimum: min, maximum: max },
  )
}

/** A value that may be absent. */
export function optional<T>(check: JsonCheck<T>): JsonCheck<T | undefined> {
  return described(check.schema, (value) => (value === undefined ? undefined : check(value)), absent)
}

/** A value, or null. */
export function orNull<T>(check: JsonCheck<T>): JsonCheck<T | null> {
  const schema = { anyOf: [check.schema ?? {}, { type: 'null' }] }
  return described(schema, (value) => (value === null ? null : check(value)))
}

/** A value that may be absent, which counts as another. */
export function or<T>(check: JsonCheck<T>, byDefault: T): JsonCheck<T> {
  const schema = { ...check.schema, default: byDefault }
  return described(schema, (value) => (value === undefined ? byDefault : check(value)), absent)
}

/** A list with at least one element. */
export function listOf<T>(check: JsonCheck<T>): JsonCheck<readonly T[]> {
  return (value) => {
    if (!Array.isArray(value) || value.length === 0) throw mustBe('a list that is not empty', value)
    return value.map((one: unknown, index) => checkUnder(index, check, one))
  }
}

/** An object whose names are free. */
export function mapOf<T>(check: JsonCheck<T>): JsonCheck<Readonly<Record<string, T>>> {
  return (value) =>
    Object.fromEntries(
      Object.entries(members(value)).map(([name, one]) => [name, checkUnder(name, check, one)]),
    )
}

/** An object with these members and no others. `remarks`: names that begin with `_` are free, and kept. */
export function object<T extends object>(
  checks: { readonly [Name in keyof T]-?: JsonCheck<T[Name]> },
  { remarks = false }: { readonly remarks?: boolean } = {},
): JsonCheck<T> {
  const known = Object.entries<JsonCheck<unknown>>(checks)
  const schema = {
    type: 'object',
    properties: Object.fromEntries(known.map(([name, check]) => [name, check.schema ?? {}])),
    required: known.filter(([, check]) => check.isOptional !== true).map(([name]) => name),
    additionalProperties: remarks,
  }
  return described(schema, (value) => {
    const given = members(value)
    const free = Object.entries(given).filter(([name]) => !Object.hasOwn(checks, name))
    const unknown = free.find(([name]) => !remarks || !name.startsWith('_'))?.[0]
    if (unknown !== undefined) {
      const list = Object.keys(checks).join(', ')
      const details = { path: [unknown], allowed: `one of ${list}`, got: unknown, at: 'name' } as const
      throw new JsonValueError(`is not known here; there may be ${list}`, details)
    }
    const read = known.map(([name, check]) => [name, checkUnder(name, check, given[name])] as const)
    return Object.fromEntries([...free, ...read.filter(([, one]) => one !== undefined)]) as T
  })
}

function checkUnder<T>(step: string | number, check: JsonCheck<T>, value: unknown): T {
  try {
    return check(value)
  } catch (error) {
    throw error instanceof JsonValueError ? error.under(step) : error
  }
}

const members: JsonCheck<Readonly<Record<string, unknown>>> = only('an object', isObject)

/** `overrides["a.b"].prices[0]`; empty for the whole. */
export function pathText(path: JsonPath): string {
  return path
    .map((full, index) => {
      if (typeof full === 'number') return `[${full}]`
      const step = cut(full)
      if (!/^\w+$/.test(step)) return `[${JSON.stringify(step)}]`
      return index === 0 ? step : `.${step}`
    })
    .join('')
}

const longest = 60

function shown(value: unknown): string {
  if (value === undefined) return 'missing'
  if (typeof value === 'number') return String(value)
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  const json = JSON.stringify(value)
  return cut(json)
}

function cut(text: string): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}
