/** One step of the schema. What stands in it is never edited once released; the next step corrects it. */
export interface Migration {
  /** `user_version` after this step. */
  readonly version: number
  readonly sql: string
}
