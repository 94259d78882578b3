/**
 * Where a call is that is not over yet.
 * - `receiving`: its request is read.
 * - `waiting`: it waits for a slot.
 * - `running`: it has one, or needs none: the upstream is asked, or answers.
 * - `backing_off`: the upstream answered 429, and it waits to be sent again.
 */
export type LiveState = 'receiving' | 'waiting' | 'running' | 'backing_off'

/** A call that is not over yet. */
export interface LiveCall {
  readonly id: string
  /** ISO 8601, UTC. */
  readonly started_at: string
  readonly method: string
  /** Without query. */
  readonly path: string
  readonly model: string | null
  readonly state: LiveState
}

/** The calls of the running gateway that are not over yet; those of gateways that it has replaced are not among them. */
export interface LiveCalls {
  /** The newest first, at most a thousand. */
  readonly calls: readonly LiveCall[]
  /** How many more there are. */
  readonly more: number
}
