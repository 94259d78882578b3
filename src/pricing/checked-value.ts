import type { JsonPath } from '../json/json-text.ts'

const noRemarks = {}

/** What is wrong with a value of a price file, and which. */
export class WrongValue extends Error {
  readonly path: JsonPath
  readonly at: 'name' | 'value'

  constructor(path: JsonPath, message: string, at: 'name' | 'value' = 'value') {
    super(`${pathText(path)}${path.length === 0 ? 'The file ' : ': '}${message}`)
    this.path = path
    this.at = at
  }
}

/** A value on its way through a check: it knows where it stands. Its methods throw `WrongValue`. */
export class CheckedValue {
  readonly value: unknown
  readonly #parent: CheckedValue | null
  readonly #step: string | number

  constructor(value: unknown, parent: CheckedValue | null = null, step: string | number = '') {
    this.value = value
    this.#parent = parent
    this.#step = step
  }

  get path(): JsonPath {
    return this.#parent === null ? [] : [...this.#parent.path, this.#step]
  }

  get isAbsent(): boolean {
    return this.value === undefined
  }

  get isArray(): boolean {
    return Array.isArray(this.value)
  }

  /** What it must be, and is not. */
  wrong(mustBe: string): WrongValue {
    return new WrongValue(this.path, `must be ${mustBe}; it is ${shown(this.value)}`)
  }

  /** The members, none other than those of these names. What begins with `_` is a remark. */
  members<Name extends string>(names: readonly Name[]): Readonly<Record<Name, CheckedValue>> {
    const object = this.#object()
    for (const name of Object.keys(object)) {
      if (names.includes(name as Name) || name.startsWith('_')) continue
      throw new WrongValue(
        [...this.path, name],
        `is not known here; there may be ${names.join(', ')}`,
        'name',
      )
    }
    const members: Partial<Record<Name, CheckedValue>> = {}
    for (const name of names) members[name] = new CheckedValue(object[name], this, name)
    return members as Record<Name, CheckedValue>
  }

  /** The remarks among the members, to be written again. */
  remarks(): object {
    const object = this.#object()
    const names = Object.keys(object).filter((name) => name.startsWith('_'))
    return names.length === 0 ? noRemarks : Object.fromEntries(names.map((name) => [name, object[name]]))
  }

  /** All members of an object whose names are free. */
  entries(): readonly { readonly name: string; readonly value: CheckedValue }[] {
    return Object.entries(this.#object()).map(([name, inner]) => ({
      name,
      value: new CheckedValue(inner, this, name),
    }))
  }

  /** The elements, of which there is at least one. */
  elements(): readonly CheckedValue[] {
    const { value } = this
    if (!Array.isArray(value) || value.length === 0) throw this.wrong('a list that is not empty')
    return value.map((inner, index) => new CheckedValue(inner, this, index))
  }

  text(): string {
    if (typeof this.value !== 'string' || this.value === '') throw this.wrong('a text that is not empty')
    return this.value
  }

  /** One of these, or absent. */
  optional<T extends string | number | boolean>(words: readonly T[]): T | undefined {
    if (this.isAbsent) return undefined
    const word = words.find((one) => one === this.value)
    if (word === undefined) throw this.wrong(words.map((one) => JSON.stringify(one)).join(' or '))
    return word
  }

  #object(): Readonly<Record<string, unknown>> {
    const { value } = this
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw this.wrong('an object')
    return value as Record<string, unknown>
  }
}

function pathText(path: JsonPath): string {
  return path
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`
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
  const text = JSON.stringify(value)
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}
