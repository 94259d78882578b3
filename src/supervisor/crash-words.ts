import type { GatewayCrash } from '../api/process-status.ts'

/** From so many on, crashes in a row are told as such. */
const loopCrashes = 3

/** Says in a sentence or two that a gateway crashed. */
export function crashInWords({ pid, exit_code: code, signal, in_a_row: inARow }: GatewayCrash): string {
  const how =
    signal !== null
      ? `was ended by signal ${signal}`
      : `ended${code === null ? '' : ` with exit code ${code}`}`
  const loop = inARow < loopCrashes ? '' : ` This is crash ${inARow} in a row.`
  return `The gateway (process ${pid}) ${how}, and nobody had told it to stop.${loop}`
}
