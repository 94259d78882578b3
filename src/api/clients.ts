import * as v from 'valibot'
import type { Infer } from '../call/infer.ts'

/** A client's use and limits at this moment, in the report of a gateway. */
export const ClientUse = v.object({
  /** The client's name, or the fingerprint of its key; empty for calls with neither. */
  client: v.string(),
  /** Calls of the client that hold a slot. */
  active: v.number(),
  /** Calls of the client that wait for a slot. */
  waiting: v.number(),
  /** Most slots that the client may hold; null without an own limit. */
  max_concurrent: v.nullable(v.number()),
  /** Tokens that the client may use in any 24 hours; null without an own limit. */
  token_limit: v.nullable(v.number()),
  /** Tokens used in the last 24 hours; null without a token limit, or until earlier calls have been read. */
  used_tokens: v.nullable(v.number()),
})

export type ClientUse = Infer<typeof ClientUse>

/** A client; or a key whose calls name no client. */
export const ClientRow = v.object({
  ...v.omit(ClientUse, ['client', 'active', 'waiting']).entries,
  /** The client's name or the key's fingerprint, for which limits can be set; empty for calls with neither. */
  client: v.string(),
  /** True if `client` is the fingerprint of a key. */
  is_key: v.boolean(),
  /** The name that a person gave the calls of the key. */
  name: v.nullable(v.string()),
  /** Fingerprints of the keys that the client used. */
  keys: v.array(v.string()),
  /** Calls since `counted_from`. */
  calls: v.number(),
  tokens: v.number(),
  last_at: v.nullable(v.string()),
  /** Null if no gateway answers. */
  active: v.nullable(v.number()),
  waiting: v.nullable(v.number()),
  /** Requests and tokens that the client may use per minute; null without an own limit. */
  max_rpm: v.nullable(v.number()),
  max_tpm: v.nullable(v.number()),
  /** `token_limit` minus `used_tokens`, which may be negative; null without a limit, or if the use is unknown. */
  remaining_tokens: v.nullable(v.number()),
})

export type ClientRow = Infer<typeof ClientRow>

/** The body of `GET /api/clients`. */
export const ClientsReport = v.object({
  /** Clients with limits first, then by most calls. */
  clients: v.array(ClientRow),
  /** Start of the range that `calls` counts: ISO 8601, UTC. */
  counted_from: v.string(),
  /** The path of the file with limits and names. */
  file: v.string(),
  /** The error in that file; null if it is valid. */
  problem: v.nullable(v.string()),
  /** The running gateway's answer to a used-up budget: `report` or `reject`; null if no gateway runs. */
  budget_action: v.nullable(v.string()),
  /** `fifo` or `fair`; null if no gateway runs. */
  queue_order: v.nullable(v.string()),
})

export type ClientsReport = Infer<typeof ClientsReport>
