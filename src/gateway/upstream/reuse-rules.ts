/** A close up to this long after an answer comes of that answer; a later one, of idling. In milliseconds. */
const earlyMs = 500
/** A connection's rest after a streamed answer while the upstream's habits are unknown, in milliseconds. */
const firstRestMs = 100
const longestRestMs = 1000
/** Connections that must survive their rest before the next ones need none. */
const firstNeeded = 3
const mostNeeded = 768
/** Safe share of the time after which a connection was found dead. */
const safePart = 0.8
/** The learned idle time doubles in this time, so that a changed upstream is tried again. */
const relaxMs = 3_600_000

/**
 * Decides when an idle connection may be used again, by the upstream's behaviour so far. Some servers announce
 * keep-alive and close all the same: llama-server up to 42 ms after a stream, others after idling for a time
 * that they do not announce. An unsafe case costs a new connection, never a wait.
 */
export class ReuseRules {
  readonly #afterStream = new RestRule(firstRestMs)
  readonly #afterSized = new RestRule(0)
  #idleLimitMs = Number.POSITIVE_INFINITY
  #idleLimitSetAtMs = 0

  /** A connection's rest after an answer, streamed or of known length, in milliseconds; 0 for none. */
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

  /** A connection that idled longer is not used again. */
  idleLimitMs(nowMs: number): number {
    if (this.#idleLimitMs === Number.POSITIVE_INFINITY) return this.#idleLimitMs
    return this.#idleLimitMs * 2 ** ((nowMs - this.#idleLimitSetAtMs) / relaxMs)
  }

  #after(streamed: boolean): RestRule {
    return streamed ? this.#afterStream : this.#afterSized
  }
}

/** Decides if connections rest after one kind of answer, and what changes that. */
class RestRule {
  restMs: number
  #needed = firstNeeded
  /** Connections that must still outlast their rest. */
  #left = firstNeeded

  constructor(restMs: number) {
    this.restMs = restMs
  }

  outlasted(): void {
    if (--this.#left <= 0) this.restMs = 0
  }

  /** Trust that was betrayed takes more proof, as some of an upstream's servers may close and others not. */
  closed(idledMs: number): void {
    if (this.restMs === 0) this.#needed = Math.min(4 * this.#needed, mostNeeded)
    this.restMs = Math.min(Math.max(firstRestMs, this.restMs, 3 * idledMs), longestRestMs)
    this.#left = this.#needed
  }
}
