/** The share that the newest interval has in the average. */
const newestShare = 1 / 16
const longestRetryAfterS = 600

/** How fast the queue moves, as seen in the intervals at which waiting calls took a slot. */
export class QueueSpeed {
  #sinceMs = 0
  #intervalMs: number | null = null

  /** The first call began to wait: an interval in which nobody waited says nothing. */
  queueBegan(nowMs: number): void {
    this.#sinceMs = nowMs
  }

  /** A waiting call took a slot. */
  slotTaken(nowMs: number): void {
    this.#intervalMs = this.#averageWith(nowMs)
    this.#sinceMs = nowMs
  }

  /**
   * Whole seconds, from 1 to 600, after which `count` more calls will have taken a slot. While none does,
   * the estimate grows.
   */
  retryAfterS(count: number, nowMs: number): number {
    const intervalMs = Math.max(this.#intervalMs ?? 0, this.#averageWith(nowMs))
    return Math.min(longestRetryAfterS, Math.max(1, Math.ceil((count * intervalMs) / 1000)))
  }

  #averageWith(nowMs: number): number {
    const newestMs = nowMs - this.#sinceMs
    if (this.#intervalMs === null) return newestMs
    return this.#intervalMs + (newestMs - this.#intervalMs) * newestShare
  }
}
