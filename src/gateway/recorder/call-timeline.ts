/**
 * When the steps of a call happened, in monotonic milliseconds; `null` for a step that was not reached. The
 * call and the relay write it, the recorder reads it.
 */
export class CallTimeline {
  /** The request's head was received. */
  readonly receivedAt: number
  /** The request's body was read, or needed no reading before the queue. */
  bodyReadAt: number | null = null
  /** The call got a slot, or needed none. */
  admittedAt: number | null = null
  /** The first attempt was handed to the transport. */
  firstDispatchAt: number | null = null
  /** The answering attempt was handed to the transport; `null` also between a lost attempt and the next. */
  dispatchedAt: number | null = null
  /** The connection of the answering attempt was ready. */
  startedAt: number | null = null
  /** The head of its answer arrived. */
  answeredAt: number | null = null
  /** The attempt ended, well or not. */
  attemptOverAt: number | null = null
  /** The last byte was handed to the client's connection, or that connection was gone. */
  closedAt: number | null = null
  /** From here on the call waited only for its client: the attempt had ended, and bytes were left to read. */
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

  /** The attempt is lost: the client gets nothing of it, and another one may follow. */
  attemptLost(): void {
    this.dispatchedAt = null
    this.startedAt = null
    this.answeredAt = null
    this.attemptOverAt = null
  }
}
