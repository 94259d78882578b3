/** A schema in JSON Schema 2020-12, for the OpenAPI documents. */
export type JsonSchema = Readonly<Record<string, unknown>>
