import * as v from 'valibot'
import type { Infer } from '../call/infer.ts'

/** A client's use and limits at this moment, in the report of a gateway. */
export const ClientUse = v.object({
  /** The client's name, or the fingerprint of its key; empty for calls with neither. */
  client: v.string(),
  /** Its calls that hold a slot. */
  active: v.number(),
  /** Its calls that wait for one. */
  waiting: v.number(),
  /** Slots that it may hold; null for as many as there are. */
  max_concurrent: v.nullable(v.number()),
  /** Tokens that it may use in any 24 hours; null for as many as all may. */
  token_limit: v.nullable(v.number()),
  /** Tokens used in the last 24 hours; null without a token limit, or while earlier calls are not read yet. */
  used_tokens: v.nullable(v.number()),
})

export type ClientUse = Infer<typeof ClientUse>

/** A client by its name, or calls of a key that name none. */
export const ClientRow = v.object({
  ...v.omit(ClientUse, ['client', 'active', 'waiting']).entries,
  /** The name that limits are set for, or the fingerprint; empty for calls with neither. */
  client: v.string(),
  /** True if that is the fingerprint of a key. */
  is_key: v.boolean(),
  /** The name that a person gave the calls of the key. */
  name: v.nullable(v.string()),
  /** The fingerprints of the keys that it used. */
  keys: v.array(v.string()),
  /** Since `counted_from`. */
  calls: v.number(),
  tokens: v.number(),
  last_at: v.nullable(v.string()),
  /** Null if no gateway answers. */
  active: v.nullable(v.number()),
  waiting: v.nullable(v.number()),
  /** Requests, and tokens, that it may use in a minute; null for as many as all may. */
  max_rpm: v.nullable(v.number()),
  max_tpm: v.nullable(v.number()),
  /** The rest of `token_limit`; may be negative. Null without a limit, or if the use is unknown. */
  remaining_tokens: v.nullable(v.number()),
})

export type ClientRow = Infer<typeof ClientRow>

/** The body of `GET /api/clients`. */
export const ClientsReport = v.object({
  /** Clients with limits first, then by most calls. */
  clients: v.array(ClientRow),
  /** Begin of the range of `calls`; ISO 8601, UTC. */
  counted_from: v.string(),
  /** The path of the file with limits and names. */
  file: v.string(),
  /** The error in that file; null if it is valid. */
  problem: v.nullable(v.string()),
  /** The running gateway's action on a used-up budget: `report` or `reject`; null if none runs. */
  budget_action: v.nullable(v.string()),
  /** `fifo` or `fair`; null if no gateway runs. */
  queue_order: v.nullable(v.string()),
})

export type ClientsReport = Infer<typeof ClientsReport>
