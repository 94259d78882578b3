/** The share that the newest interval has in the average. */
const newestShare = 1 / 16
const longestRetryAfterS = 600

/** The speed of the queue: a running average of the time between two waiting calls that get a slot. */
export class QueueSpeed {
  #sinceMs = 0
  #intervalMs: number | null = null

  /** Call it when the first call begins to wait: time without a waiting call does not count. */
  queueBegan(nowMs: number): void {
    this.#sinceMs = nowMs
  }

  /** Call it when a waiting call got a slot. */
  slotTaken(nowMs: number): void {
    this.#intervalMs = this.#averageWith(nowMs)
    this.#sinceMs = nowMs
  }

  /**
   * The time in which `count` more calls will get a slot: whole seconds, from 1 to 600. The estimate grows while no call gets
   * one.
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
