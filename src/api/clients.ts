/** How much a client uses at this moment, and may; in the report of a gateway. */
export interface ClientUse {
  /** Its name, or the fingerprint of its key; empty for calls that nothing tells apart. */
  readonly client: string
  /** Its calls that hold a slot. */
  readonly active: number
  /** Its calls that wait for one. */
  readonly waiting: number
  /** Slots that it may hold; null for as many as there are. */
  readonly max_concurrent: number | null
  /** Tokens that it may use in any 24 hours; null for as many as all may. */
  readonly token_limit: number | null
  /** Tokens that it used in the last 24 hours; null if nobody counts them, or what was used before is not read yet. */
  readonly used_tokens: number | null
}

/** A client by its name, or calls of a key that name none. */
export interface ClientRow extends Omit<ClientUse, 'client' | 'active' | 'waiting'> {
  /** Under which limits are set: the name, or the fingerprint; empty for calls that nothing tells apart. */
  readonly client: string
  /** Whether that is the fingerprint of a key. */
  readonly is_key: boolean
  /** The name that a person gave the calls of the key. */
  readonly name: string | null
  /** The fingerprints of the keys that it used. */
  readonly keys: readonly string[]
  /** Since `counted_from`. */
  readonly calls: number
  readonly tokens: number
  readonly last_at: string | null
  /** Null if no gateway tells. */
  readonly active: number | null
  readonly waiting: number | null
  /** Of `token_limit`; may be negative. Null without one, or if nobody counts. */
  readonly remaining_tokens: number | null
}

/** The body of `GET /api/clients`. */
export interface ClientsReport {
  /** Those with limits first, then those with the most calls. */
  readonly clients: readonly ClientRow[]
  /** From when on calls were counted; ISO 8601, UTC. */
  readonly counted_from: string
  /** Where limits and names are kept. */
  readonly file: string
  /** What is wrong with that file; null if nothing is. */
  readonly problem: string | null
  /** What a used-up budget does in the running gateway: `report` or `reject`; null if none runs. */
  readonly budget_action: string | null
  /** `fifo` or `fair`; null if no gateway runs. */
  readonly queue_order: string | null
}
