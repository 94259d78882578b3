/** A close within this time (ms) after an answer is caused by the answer; a later one by idling. */
const earlyMs = 500
/** A connection's rest after a streamed answer while the upstream's habits are unknown, in milliseconds. */
const firstRestMs = 100
const longestRestMs = 1000
/** Connections that must survive their rest before the next ones need none. */
const firstNeeded = 3
const mostNeeded = 768
/** The safe share of an idle time after which a connection was dead. */
const safePart = 0.8
/** The learned idle time doubles within this time (ms), so that a changed upstream is tried again. */
const relaxMs = 3_600_000

/**
 * Decides when an idle connection may be reused, by the upstream's behaviour so far. Some servers announce
 * keep-alive and still close: llama-server up to 42 ms after a stream, others after an idle time that they do
 * not announce. In an unsafe case a call gets a new connection, never a wait.
 */
export class ReuseRules {
  readonly #afterStream = new RestRule(firstRestMs)
  readonly #afterSized = new RestRule(0)
  #idleLimitMs = Number.POSITIVE_INFINITY
  #idleLimitSetAtMs = 0

  /** The rest of a connection after an answer, in ms; 0 for none. `streamed`: the answer had no length. */
  restMs(streamed: boolean): number {
    return this.#after(streamed).restMs
  }

  /** A connection outlasted its rest. */
  outlasted(streamed: boolean): void {
    this.#after(streamed).outlasted()
  }

  /** The upstream closed an idle connection `idledMs` after the answer. */
  closed(streamed: boolean, idledMs: number): void {
    if (idledMs < earlyMs) this.#after(streamed).closed(idledMs)
  }

  /** A request got no answer because its connection was dead after idling for `idledMs`. */
  died(streamed: boolean, idledMs: number, nowMs: number): void {
    this.closed(streamed, idledMs)
    if (idledMs < earlyMs) return
    this.#idleLimitMs = idledMs * safePart
    this.#idleLimitSetAtMs = nowMs
  }

  /** The longest idle time (ms) of a connection that may be reused. */
  idleLimitMs(nowMs: number): number {
    if (this.#idleLimitMs === Number.POSITIVE_INFINITY) return this.#idleLimitMs
    return this.#idleLimitMs * 2 ** ((nowMs - this.#idleLimitSetAtMs) / relaxMs)
  }

  #after(streamed: boolean): RestRule {
    return streamed ? this.#afterStream : this.#afterSized
  }
}

/** Learns whether connections must rest after one kind of answer. */
class RestRule {
  restMs: number
  #needed = firstNeeded
  /** How many more connections must survive their rest before the next ones need none. */
  #remaining = firstNeeded

  constructor(restMs: number) {
    this.restMs = restMs
  }

  outlasted(): void {
    if (--this.#remaining <= 0) this.restMs = 0
  }

  /**
   * Notes a close during the rest. More connections must then survive, because some servers of an upstream
   * may close and others not.
   */
  closed(idledMs: number): void {
    if (this.restMs === 0) this.#needed = Math.min(4 * this.#needed, mostNeeded)
    this.restMs = Math.min(Math.max(firstRestMs, this.restMs, 3 * idledMs), longestRestMs)
    this.#remaining = this.#needed
  }
}
