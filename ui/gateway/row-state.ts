import type { StateShape, Tone } from '../data/gateway-now.ts'

/** The state of a table's row: an upstream or a gateway. */
export interface RowState {
  readonly shape: StateShape
  readonly tone: Tone
  readonly words: string
  readonly details: readonly string[]
}
