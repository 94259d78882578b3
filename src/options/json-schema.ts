/** A schema of a value in JSON (JSON Schema 2020-12), for the documents that machines read. */
export type JsonSchema = Readonly<Record<string, unknown>>
