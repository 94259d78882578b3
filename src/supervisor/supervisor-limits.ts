/** A supervisor's time limits, in milliseconds. */
export interface SupervisorLimits {
  /** For an answer of the gateway, on its control socket and on its port. */
  readonly answerMs: number
  /** For a gateway to become healthy, from its start. */
  readonly startMs: number
  /** For a gateway to accept that it is to stop. */
  readonly acceptStopMs: number
  /** For its end, beyond its own drain time-out. */
  readonly afterDrainMs: number
}

export const defaultLimits: SupervisorLimits = {
  answerMs: 2000,
  startMs: 15_000,
  acceptStopMs: 5000,
  afterDrainMs: 5000,
}
