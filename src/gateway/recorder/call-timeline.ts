/**
 * When the steps of one call happened, on the monotonic clock, in milliseconds; `null` where a step was not
 * reached. Written by the spine and the relay, read by the recorder.
 */
export class CallTimeline {
  /** The request's head was received. */
  readonly receivedAt: number
  /** The request's body was read, or needed no reading before the queue. */
  bodyReadAt: number | null = null
  /** A slot is held, or none was needed. */
  admittedAt: number | null = null
  /** The first attempt was handed to the transport. */
  firstDispatchAt: number | null = null
  /** The answering attempt was handed to the transport; `null` also while none is under way after a lost one. */
  dispatchedAt: number | null = null
  /** The connection of the answering attempt was ready. */
  startedAt: number | null = null
  /** The head of its answer arrived. */
  answeredAt: number | null = null
  /** The end of the attempt, good or bad. */
  attemptOverAt: number | null = null
  /** The last byte was handed to the client's connection, or that connection was gone. */
  closedAt: number | null = null
  /** From here on the client alone was waited for: the attempt was over, and bytes were left to be taken. */
  clientAloneFrom: number | null = null
  attempts = 0

  constructor(receivedAt: number) {
    this.receivedAt = receivedAt
  }

  /** Begins a new attempt; the times of the last one no longer count. */
  attempt(now: number): void {
    this.attemptLost()
    this.attempts++
    this.firstDispatchAt ??= now
    this.dispatchedAt = now
  }

  /** The client will see nothing of this attempt; another one may follow. */
  attemptLost(): void {
    this.dispatchedAt = null
    this.startedAt = null
    this.answeredAt = null
    this.attemptOverAt = null
  }
}
