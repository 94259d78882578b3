import type * as v from 'valibot'

/** The type of a value that fits the schema of an answer. */
export type Infer<S extends v.GenericSchema> = Frozen<v.InferOutput<S>>

type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T
