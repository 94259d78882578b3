/** A type guard. */
export type Shape<T> = (value: unknown) => value is T

export const isText = (value: unknown): value is string => typeof value === 'string'
/** A whole number, 0 or more. */
export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** The members of an object. */
export type Fields = Readonly<Record<string, unknown>>

/** The members of any value that is no object. */
export const noFields: Fields = {}
const noElements: readonly Fields[] = []

/** True for an object that is no array. */
export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The members of an object; empty for any other value. */
export function fields(value: unknown): Fields {
  return isObject(value) ? value : noFields
}

/** The objects in an array; empty for any other value. */
export function list(value: unknown): readonly Fields[] {
  if (!Array.isArray(value)) return noElements
  return value.every(isObject) ? value : value.filter(isObject)
}

/** The message in a text; `null` if it is no JSON, or does not have the shape. */
export function readMessage<T>(text: string, shape: Shape<T>): T | null {
  try {
    const content: unknown = JSON.parse(text)
    return shape(content) ? content : null
  } catch {
    return null
  }
}

/** Returns a function that parses JSON texts, and passes on values of this shape. */
export function onMessage<T>(shape: Shape<T>, onParsed: (message: T) => void): (text: string) => void {
  return (text) => {
    const message = readMessage(text, shape)
    if (message !== null) onParsed(message)
  }
}
