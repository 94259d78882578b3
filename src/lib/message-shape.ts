/**
 * Tells what another process sent from what only looks like it. That process may be of an older or a newer version, or
 * killed in the middle of a word: members that a shape does not name are let be, and what does not fit is dropped whole.
 */
export type Shape<T> = (value: unknown) => value is T

/** What a message of a shape is: `MessageOf<typeof isReport>`, so that it is declared once. */
export type MessageOf<S> = S extends Shape<infer T> ? Readonly<T> : never

/** A shape for each member. */
export type Shapes<T> = { readonly [Name in keyof T]-?: Shape<T[Name]> }

export const isText = (value: unknown): value is string => typeof value === 'string'
export const isFlag = (value: unknown): value is boolean => typeof value === 'boolean'
export const isNumber = (value: unknown): value is number => Number.isFinite(value)
/** 0 or more. */
export const isAmount = (value: unknown): value is number => isNumber(value) && value >= 0
/** A whole number, 0 or more. */
export const isCount: Shape<number> = isWhole(0)

export function isWhole(min: number, max: number = Number.MAX_SAFE_INTEGER): Shape<number> {
  return (value): value is number =>
    Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max
}

export function isOneOf<const T extends string | boolean>(words: readonly T[]): Shape<T> {
  return (value): value is T => words.some((word) => word === value)
}

/** Absent in messages of versions that do not know it. */
export function optional<T>(shape: Shape<T>): Shape<T | undefined> {
  return (value): value is T | undefined => value === undefined || shape(value)
}

export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return (value): value is T | null => value === null || shape(value)
}

export function either<T extends readonly Shape<unknown>[]>(...shapes: T): Shape<MessageOf<T[number]>> {
  return (value): value is MessageOf<T[number]> => shapes.some((shape) => shape(value))
}

export function listOf<T>(shape: Shape<T>): Shape<readonly T[]> {
  return (value): value is readonly T[] => Array.isArray(value) && value.every((one) => shape(one))
}

/** An object with any names. */
export function mapOf<T>(shape: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return (value): value is Readonly<Record<string, T>> =>
    isObject(value) && Object.values(value).every((one) => shape(one))
}

/** An object with all members of `T`, each of its shape. */
export function record<T extends object>(shapes: Shapes<T>): Shape<T> {
  const members = Object.entries<Shape<unknown>>(shapes)
  return (value): value is T => isObject(value) && members.every(([name, shape]) => shape(value[name]))
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `null` where the text is no JSON, or not of the shape. */
export function readMessage<T>(text: string, shape: Shape<T>): T | null {
  try {
    const content: unknown = JSON.parse(text)
    return shape(content) ? content : null
  } catch {
    return null
  }
}

/** Takes texts, and hands on those that are of the shape. */
export function onMessage<T>(shape: Shape<T>, take: (message: T) => void): (text: string) => void {
  return (text) => {
    const message = readMessage(text, shape)
    if (message !== null) take(message)
  }
}
