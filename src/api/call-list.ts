import type { GroupFigures } from '../call/call-question.ts'
import type { CallJson } from '../call/call-record.ts'
import type { CallType } from '../call/call.ts'

/** What every answer of `/api/query` has besides its calls or groups. */
export interface QueryFrame {
  /** Over all that was selected, not only over what is listed. */
  readonly summary: GroupFigures
  readonly available_models: readonly string[]
  readonly available_types: readonly CallType[]
  /** Present where the selection reaches back to calls that were folded into hours. */
  readonly resolution?: '1h'
}

/** The body of `GET /api/query` without `group_by`. */
export interface ListAnswer extends QueryFrame {
  readonly calls: readonly CallJson[]
  /** How many are listed. */
  readonly count: number
  readonly limit: number
  /** Asks for the next page; null where there is none. */
  readonly next_cursor: string | null
}
