import * as v from 'valibot'
import type { Infer } from '../call/infer.ts'

/** A call in progress. Times are in milliseconds, named as in a recorded call; null until known. */
export const LiveCall = v.object({
  id: v.string(),
  /** ISO 8601, UTC. */
  started_at: v.string(),
  method: v.string(),
  /** Without query. */
  path: v.string(),
  model: v.nullable(v.string()),
  client: v.nullable(v.string()),
  session: v.nullable(v.string()),
  /** The name of the upstream that it goes to; of the default one, the host. */
  upstream: v.string(),
  /** The request is being read; the call waits for a slot; the upstream has sent nothing yet; the upstream answers; the call waits for its retry after a 429. */
  state: v.picklist(['receiving', 'queued', 'waiting', 'streaming', 'backing_off']),
  /** 1 for the next call to get a slot; null unless the call waits for one. */
  queue_place: v.nullable(v.number()),
  /** The resource that the call waits for in line; null if it does not wait. */
  waits_for: v.nullable(v.picklist(['slot', 'requests', 'tokens'])),
  /** Since when it is in this state: ISO 8601, UTC. */
  state_since: v.string(),
  /** Content chunks so far. */
  chunks: v.number(),
  /** Over the last seconds while a page watches, else since the first chunk; null before there are two. */
  chunks_per_s: v.nullable(v.number()),
  /** Body bytes so far. */
  request_bytes: v.number(),
  response_bytes: v.number(),
  receive_ms: v.nullable(v.number()),
  queue_ms: v.nullable(v.number()),
  /** Lost attempts and the waits between them, as far as they are over. */
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
  /** Number of calls beyond these. */
  more: v.number(),
})

export type LiveCalls = Infer<typeof LiveCalls>
