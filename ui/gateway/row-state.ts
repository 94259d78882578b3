import type { StateShape, Tone } from '../data/gateway-now.ts'

/** How a row of a table is: an upstream, a gateway. */
export interface RowState {
  readonly shape: StateShape
  readonly tone: Tone
  readonly words: string
  readonly details: readonly string[]
}
