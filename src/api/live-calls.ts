import * as v from 'valibot'
import type { Infer } from '../call/infer.ts'

/** A call that is not over yet. Times in milliseconds, as those of a recorded call; null until they are known. */
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
  /** Its request is read; it waits for a slot; the upstream is asked, and has sent nothing yet; the upstream answers; the upstream answered 429, and it waits to be sent again. */
  state: v.picklist(['receiving', 'queued', 'waiting', 'streaming', 'backing_off']),
  /** 1 for the next one that gets a slot; null unless it waits for one. */
  queue_place: v.nullable(v.number()),
  /** The resource that the call waits for in line; null if it does not wait. */
  waits_for: v.nullable(v.picklist(['slot', 'requests', 'tokens'])),
  /** Since when it is in this state: ISO 8601, UTC. */
  state_since: v.string(),
  /** Content chunks so far. */
  chunks: v.number(),
  /** Over the last seconds if somebody watches, else since its first one; null before there are two. */
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

/** The calls that are not over yet, of the running gateway and of those that it has replaced. */
export const LiveCalls = v.object({
  /** The oldest first, at most a thousand. */
  calls: v.array(LiveCall),
  /** How many more there are. */
  more: v.number(),
})

export type LiveCalls = Infer<typeof LiveCalls>
