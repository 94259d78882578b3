import { asText, objectOf, textOf } from './json-value.ts'

/** An error in the words of the upstream. */
export interface UpstreamError {
  readonly message: string
  /** Names and values of further fields: `type`, `rate_limit_error`. */
  readonly facts: readonly (readonly [name: string, value: string])[]
}

/** The last characters of a stream that are searched, because an error is among its last events. */
const tailLength = 64_000

/**
 * Returns the error in the body of an answer: an object of any common form, or an event of a stream. Null without
 * one.
 */
export function readError(body: unknown): UpstreamError | null {
  if (typeof body !== 'string') return errorIn(Array.isArray(body) ? body[0] : body)
  const lines = body.slice(-tailLength).split('\n').reverse()
  for (const line of lines) {
    const data = /^(?:data|error):\s*(\{.*)$/.exec(line.trimEnd())?.[1]
    if (data?.includes('"error"') !== true) continue
    try {
      const found = errorIn(JSON.parse(data))
      if (found !== null) return found
    } catch {
      // The event is cut, or is no JSON.
    }
  }
  return null
}

function errorIn(value: unknown): UpstreamError | null {
  const body = objectOf(value)
  const error = body['error'] ?? body['detail'] ?? (body['object'] === 'error' ? body : undefined)
  if (error === undefined || error === null) {
    const message = textOf(body['message'])
    return message === null ? null : { message, facts: [] }
  }
  if (typeof error === 'string')
    return { message: error, facts: factsOf(body, ['type', 'error_type', 'code']) }
  const inner = objectOf(error)
  const message = textOf(inner['message']) ?? asText(error)
  return { message, facts: factsOf(inner, ['type', 'code', 'status', 'param']) }
}

function factsOf(
  object: Readonly<Record<string, unknown>>,
  names: readonly string[],
): UpstreamError['facts'] {
  return names.flatMap((name) => {
    const value = object[name]
    return value === undefined || value === null || value === '' ? [] : [[name, asText(value)] as const]
  })
}
