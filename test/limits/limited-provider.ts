/** A provider that limits requests and tokens a minute by buckets that are refilled continuously. */
export class LimitedProvider {
  readonly requestsAMinute: number
  readonly tokensAMinute: number
  #requests: number
  #tokens: number
  #atMs = 0
  /** All that it let through: when, and how many tokens. */
  readonly taken: [atMs: number, tokens: number][] = []
  refused = 0

  /** `share`: so much of a minute's worth is there at the start. */
  constructor(requestsAMinute: number, tokensAMinute: number, share = 1) {
    this.requestsAMinute = requestsAMinute
    this.tokensAMinute = tokensAMinute
    this.#requests = requestsAMinute * share
    this.#tokens = tokensAMinute * share
  }

  /** How long until it has room for a call, in ms. */
  waitMs(nowMs: number, tokens: number): number {
    const minutes = Math.max(0, nowMs - this.#atMs) / 60_000
    this.#atMs = nowMs
    this.#requests = Math.min(this.requestsAMinute, this.#requests + minutes * this.requestsAMinute)
    this.#tokens = Math.min(this.tokensAMinute, this.#tokens + minutes * this.tokensAMinute)
    const requestsMs = ((1 - this.#requests) / this.requestsAMinute) * 60_000
    const tokensMs = ((tokens - this.#tokens) / this.tokensAMinute) * 60_000
    // Sums of fractions are not exact.
    return Math.max(requestsMs, tokensMs) > 1e-3 ? Math.max(requestsMs, tokensMs) : 0
  }

  /** Null if it lets a call through, else how long the call should wait, in ms. */
  ask(nowMs: number, tokens: number): number | null {
    const waitMs = this.waitMs(nowMs, tokens)
    if (waitMs > 0) {
      this.refused += 1
      return waitMs
    }
    this.#requests -= 1
    this.#tokens -= tokens
    this.taken.push([nowMs, tokens])
    return null
  }

  /** What its answers tell, as OpenAI has it. */
  headers(): readonly string[] {
    const of = (kind: string, most: number, left: number): readonly string[] => [
      `x-ratelimit-limit-${kind}`,
      String(most),
      `x-ratelimit-remaining-${kind}`,
      String(Math.floor(Math.max(0, left))),
      `x-ratelimit-reset-${kind}`,
      `${(((most - left) / most) * 60).toFixed(3)}s`,
    ]
    return [
      ...of('requests', this.requestsAMinute, this.#requests),
      ...of('tokens', this.tokensAMinute, this.#tokens),
    ]
  }
}

/** The most that was taken within any minute that ends with something taken, or any other time of `lengthMs`. */
export function fullestMinute(
  taken: readonly (readonly [atMs: number, amount: number])[],
  lengthMs = 60_000,
): number {
  let fullest = 0
  let from = 0
  let sum = 0
  for (const [atMs, amount] of taken) {
    sum += amount
    while ((taken[from]?.[0] ?? 0) <= atMs - lengthMs) sum -= taken[from++]?.[1] ?? 0
    fullest = Math.max(fullest, sum)
  }
  return fullest
}
