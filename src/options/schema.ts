import * as v from 'valibot'
import type { JsonPath } from '../json/json-text.ts'
import { isObject } from '../lib/message-shape.ts'
import { count } from '../lib/number-format.ts'

/** A schema of a JSON value that a person wrote. The program uses the schema's output. */
export type Schema<T = unknown> = v.GenericSchema<unknown, T>

/** The output of a schema. */
export type Checked<S extends Schema> = v.InferOutput<S>

/** The members of an object with these entries, without remarks. */
export type MembersOf<E extends v.ObjectEntries> = Readonly<v.InferOutput<v.ObjectSchema<E, undefined>>>

/** A JSON value does not fit its schema. */
export class JsonValueError extends Error {
  /** The path from the checked value to the wrong one. */
  readonly path: JsonPath
  /** The flaw, which follows the value's name in messages: "must be …". */
  readonly flaw: string
  /** The wrong part of the member: its name or its value. */
  readonly at: 'name' | 'value'

  constructor(flaw: string, path: JsonPath = [], at: 'name' | 'value' = 'value') {
    super(`${pathText(path)} ${flaw}`)
    this.name = 'JsonValueError'
    this.path = path
    this.flaw = flaw
    this.at = at
  }
}

/** The message of a schema: the allowed values and the actual one. */
export function be(allowed: string): (issue: { readonly input: unknown }) => string {
  return ({ input }) => `must be ${allowed}; it is ${shown(input)}`
}

/** Messages for schemas without own messages. */
const usual = {
  abortEarly: true,
  message: (issue: v.BaseIssue<unknown>): string =>
    be(
      words[issue.expected ?? ''] ??
        (issue.expected ?? 'another value').replaceAll(/^\(|\)$/g, '').replaceAll(' | ', ' or '),
    )(issue),
}
const words: Readonly<Record<string, string>> = {
  Array: 'a list',
  boolean: 'true or false',
  string: 'a text',
  number: 'a number',
}

/** The output of a schema for a value. Throws {@link JsonValueError}. */
export function checked<S extends Schema>(schema: S, value: unknown): Checked<S> {
  const { success, output, issues } = v.safeParse(schema, value, usual)
  if (success) return output
  const [{ message, path = [] }] = issues
  const keys = path.map(({ key }) => (typeof key === 'number' ? key : String(key)))
  const last = path.at(-1)
  // A missing member has no name in the text.
  throw new JsonValueError(
    message,
    keys,
    last?.type === 'unknown' && last.origin === 'key' ? 'name' : 'value',
  )
}

/** An additional rule, for use after a schema in `v.pipe`. `check` throws {@link JsonValueError}. */
export function rule<T>(check: (value: T) => void): v.RawCheckAction<T> {
  return v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    try {
      check(dataset.value)
    } catch (error) {
      if (!(error instanceof JsonValueError)) throw error
      const { flaw: message, path, at } = error
      const [first, ...others] = path.map((key, index) => step(key, index === path.length - 1 ? at : 'value'))
      addIssue(first === undefined ? { message } : { message, path: [first, ...others] })
    }
  })
}

function step(key: string | number, at: 'name' | 'value' = 'value'): v.IssuePathItem {
  return { type: 'unknown', origin: at === 'name' ? 'key' : 'value', input: undefined, key, value: undefined }
}

/** A schema with several options. `choose` selects one by the value, so that errors are those of the intended option. */
export function oneOf<const S extends Schema>(options: readonly S[], choose: (value: unknown) => S) {
  return Object.assign(v.lazy(choose), { options })
}

const notEmpty = be('a text that is not empty')
export const text = v.pipe(v.string(notEmpty), v.nonEmpty(notEmpty))

/** A text that matches a pattern. `allowed` completes "must be …". */
export function textLike(allowed: string, pattern: RegExp) {
  return v.pipe(v.string(be(allowed)), v.regex(pattern, be(allowed)), v.description(allowed))
}

/** A number within bounds, both included. */
export function within(min: number, max: number, allowed: string) {
  return v.pipe(v.number(be(allowed)), v.minValue(min, be(allowed)), v.maxValue(max, be(allowed)))
}

/** A whole number within bounds, both included. */
export function integer(min: number, max: number) {
  const allowed = `a whole number from ${count(min)} to ${count(max)}`
  return v.pipe(within(min, max, allowed), v.integer(be(allowed)))
}

/** A list with at least one element. */
export function listOf<S extends Schema>(schema: S) {
  const allowed = be('a list that is not empty')
  return v.pipe(v.array(schema, allowed), v.nonEmpty(allowed), v.readonly())
}

export const anyObject = v.custom<Readonly<Record<string, unknown>>>(isObject, be('an object'))

/** An object with any names, whose values have the same schema. */
export function mapOf<S extends Schema>(schema: S) {
  type Values = Readonly<Record<string, Checked<S>>>
  // `v.record` drops names such as `constructor`, which a model or a client may have.
  const read = v.rawTransform<Readonly<Record<string, unknown>>, Values>(({ dataset, addIssue }) => {
    const members = Object.entries(dataset.value).map(([name, value]) => {
      const { output, issues } = v.safeParse(schema, value, usual)
      for (const { message, path = [] } of issues ?? []) addIssue({ message, path: [step(name), ...path] })
      return [name, output] as const
    })
    return Object.fromEntries(members) as Values
  })
  return v.pipe(anyObject, Object.assign(read, { values: schema }))
}

/** An object with these members and no others. */
export function object<const E extends v.ObjectEntries>(entries: E) {
  return v.pipe(
    anyObject,
    knownNames(entries, () => false),
    v.strictObject(entries, ofMissing(entries)),
    v.readonly(),
  )
}

/** An object with these members. Further names with a leading `_` are remarks, which are kept. */
export function objectWithRemarks<const E extends v.ObjectEntries>(entries: E) {
  const isRemark = (name: string): boolean => name.startsWith('_') && name !== '__proto__'
  return v.pipe(
    anyObject,
    knownNames(entries, isRemark),
    v.looseObject(entries, ofMissing(entries)),
    v.readonly(),
  )
}

function knownNames(entries: v.ObjectEntries, isFree: (name: string) => boolean) {
  return rule<Readonly<Record<string, unknown>>>((value) => {
    const unknown = Object.keys(value).find((name) => !Object.hasOwn(entries, name) && !isFree(name))
    if (unknown === undefined) return
    const list = Object.keys(entries).join(', ')
    throw new JsonValueError(`is unknown here; known are ${list}`, [unknown], 'name')
  })
}

/** The message for a missing member, from its own schema. */
function ofMissing(entries: v.ObjectEntries) {
  return ({ path }: v.StrictObjectIssue | v.LooseObjectIssue): string => {
    const schema = entries[String(path?.at(-1)?.key)]
    const issue = schema === undefined ? undefined : v.safeParse(schema, undefined, usual).issues?.[0]
    return issue?.message ?? 'is missing'
  }
}

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

/** Most characters of a value in a message. */
const longest = 60

function shown(value: unknown): string {
  if (value === undefined) return 'missing'
  if (typeof value === 'number') return String(value)
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  return cut(JSON.stringify(value))
}

function cut(text: string): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}
