import * as v from 'valibot'
import type { Shape } from './message-shape.ts'

/** The type of a message, by its schema or by the shape that {@link fits} returns. */
export type MessageOf<S> =
  S extends Shape<infer T> ? T : S extends v.GenericSchema ? Frozen<v.InferOutput<S>> : never

type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T

/** A finite number; other numbers have no JSON. */
export const finite = v.pipe(v.number(), v.finite())
/** 0 or more. */
export const amount = v.pipe(finite, v.minValue(0))
/** A whole number, 0 or more. */
export const count = integer(0)

/** A whole number within bounds, both included. */
export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER): v.GenericSchema<number> {
  return v.pipe(v.number(), v.safeInteger(), v.minValue(min), v.maxValue(max))
}

/**
 * A type guard for messages of another process, which may have another version, or was killed in the middle
 * of a message. Members that the schema lacks are ignored.
 */
export function fits<S extends v.GenericSchema>(schema: S): Shape<MessageOf<S>> {
  return (value): value is MessageOf<S> => v.is(schema, value)
}
