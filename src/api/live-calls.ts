import * as v from 'valibot'
import type { Infer } from '../call/infer.ts'

/** A call in progress. Times are in milliseconds, named as in a recorded call; null until known. */
export const LiveCall = v.object({
  id: v.string(),
  /** ISO 8601, UTC. */
  started_at: v.string(),
  method: v.string(),
  /** The path without its query. */
  path: v.string(),
  model: v.nullable(v.string()),
  client: v.nullable(v.string()),
  session: v.nullable(v.string()),
  /** The name of the call's upstream; for the default upstream, its host. */
  upstream: v.string(),
  /**
   * - `receiving`: the request is being read.
   * - `queued`: the call waits for a slot.
   * - `waiting`: the upstream has sent nothing yet.
   * - `streaming`: the upstream answers.
   * - `backing_off`: the call waits for its retry after a 429.
   */
  state: v.picklist(['receiving', 'queued', 'waiting', 'streaming', 'backing_off']),
  /** 1 for the next call to get a slot; null unless the call waits for one. */
  queue_place: v.nullable(v.number()),
  /** The reason for the wait in the queue; null if the call does not wait. */
  waits_for: v.nullable(v.picklist(['slot', 'requests', 'tokens'])),
  /** When the state began: ISO 8601, UTC. */
  state_since: v.string(),
  /** Content chunks so far. */
  chunks: v.number(),
  /**
   * Chunks per second: over the last seconds while a page watches, else since the first chunk; null before
   * the second chunk.
   */
  chunks_per_s: v.nullable(v.number()),
  /** Body bytes so far. */
  request_bytes: v.number(),
  response_bytes: v.number(),
  receive_ms: v.nullable(v.number()),
  queue_ms: v.nullable(v.number()),
  /** Time of lost attempts and of the waits between them, without a wait under way. */
  retry_wait_ms: v.nullable(v.number()),
  /** Times of the attempt that answers. */
  ttfb_ms: v.nullable(v.number()),
  ttft_ms: v.nullable(v.number()),
})

export type LiveCall = Infer<typeof LiveCall>
export type LiveState = LiveCall['state']

/** The calls in progress, of the running gateway and of its predecessors. */
export const LiveCalls = v.object({
  /** At most a thousand, oldest first. */
  calls: v.array(LiveCall),
  /** Number of calls that are not in the list. */
  more: v.number(),
})

export type LiveCalls = Infer<typeof LiveCalls>
