/** Where a call can be that is not over yet. */
export const liveStates = [
  /** Its request is read. */
  'receiving',
  /** It waits for a slot. */
  'queued',
  /** The upstream is asked, and has sent nothing yet. */
  'waiting',
  /** The upstream answers. */
  'streaming',
  /** The upstream answered 429, and it waits to be sent again. */
  'backing_off',
] as const

export type LiveState = (typeof liveStates)[number]

/** A call that is not over yet. Times in milliseconds, as those of a recorded call; null until they are known. */
export interface LiveCall {
  readonly id: string
  /** ISO 8601, UTC. */
  readonly started_at: string
  readonly method: string
  /** Without query. */
  readonly path: string
  readonly model: string | null
  readonly client: string | null
  readonly session: string | null
  /** The name of the upstream that it goes to; of the default one, the host. */
  readonly upstream: string
  readonly state: LiveState
  /** 1 for the next one that gets a slot; null unless it waits for one. */
  readonly queue_place: number | null
  /** Since when it is in this state: ISO 8601, UTC. */
  readonly state_since: string
  /** Content chunks so far. */
  readonly chunks: number
  /** Over the last seconds if somebody watches, else since its first one; null before there are two. */
  readonly chunks_per_s: number | null
  /** Body bytes so far. */
  readonly request_bytes: number
  readonly response_bytes: number
  readonly receive_ms: number | null
  readonly queue_ms: number | null
  /** Lost attempts and the waits between them, as far as they are over. */
  readonly retry_wait_ms: number | null
  /** Of the attempt that answers. */
  readonly ttfb_ms: number | null
  readonly ttft_ms: number | null
}

/** The calls that are not over yet, of the running gateway and of those that it has replaced. */
export interface LiveCalls {
  /** The oldest first, at most a thousand. */
  readonly calls: readonly LiveCall[]
  /** How many more there are. */
  readonly more: number
}
