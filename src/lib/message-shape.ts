/** A type guard. */
export type Shape<T> = (value: unknown) => value is T

export const isText = (value: unknown): value is string => typeof value === 'string'
export const isNumber = (value: unknown): value is number => Number.isFinite(value)
/** A whole number, 0 or more. */
export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** True for an object that is no array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
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
