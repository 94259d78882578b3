import type { KeptPayloads } from './kept-payload.ts'

/** What the Live view has heard of a call. The same object for as long as it is listed there. */
export interface FedCall {
  readonly id: string
  /** Rises with all that is heard of it. */
  readonly version: number
  readonly startedMs: number
  /** Whether its end is still to come, as far as that is known. */
  readonly isUnderWay: boolean
  /** Its end may have been among what was not heard. */
  readonly isLost: boolean
  /** When that was heard, on the page's clock; null while it is not. */
  readonly endHeardMs: number | null
  readonly method: string
  readonly path: string
  readonly model: string | null
  readonly status: number | null
  readonly outcome: string | null
  readonly failureCode: string | null
  /** Whether nothing of what was sent is missing in what was heard. */
  readonly isWhole: boolean
  /** What was heard, as far as it is still held. */
  payloads(): KeptPayloads
}
