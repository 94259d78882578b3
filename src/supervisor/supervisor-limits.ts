/** A supervisor's time limits, in milliseconds. */
export type SupervisorLimits = Readonly<typeof defaultLimits>

export const defaultLimits = {
  /** For an answer of the gateway, on its control socket and on its port. */
  answerMs: 2000,
  /** For a gateway to become healthy, from its start. */
  startMs: 15_000,
  /** For a gateway to accept that it is to stop. */
  acceptStopMs: 5000,
  /** For its end, beyond its own drain time-out. */
  afterDrainMs: 5000,
}
