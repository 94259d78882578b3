/** A JSON object of unknown fields. */
export type JsonRecord = Readonly<Record<string, unknown>>

/** The object that a value is, or an empty one where it is something else. */
export function asRecord(value: unknown): JsonRecord {
  return isRecord(value) ? value : {}
}

/** The object that a JSON text holds, or an empty one where it holds none. */
export function parseRecord(text: string): JsonRecord {
  try {
    return asRecord(JSON.parse(text))
  } catch {
    return {}
  }
}

function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null
}
