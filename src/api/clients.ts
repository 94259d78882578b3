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
