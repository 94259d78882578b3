import type { Plan, Sighting } from './describe-process.ts'
import type { GatewayFinder } from './gateway-finder.ts'
import { acceptsConnections, askHealth } from './gateway-port.ts'

/** Looks at the gateway of a data folder from all sides, and where there is none, at the port of the next. */
export async function seeGateway(
  finder: GatewayFinder,
  plan: Plan,
  startingPid: () => number | null,
  answerMs: number,
): Promise<Sighting> {
  const seen = await see(finder, plan, startingPid, answerMs)
  // It may be a gateway that begins at this moment: its port is there before its socket.
  return seen.isPortTaken ? see(finder, plan, startingPid, answerMs) : seen
}

async function see(
  finder: GatewayFinder,
  plan: Plan,
  startingPid: () => number | null,
  answerMs: number,
): Promise<Sighting> {
  const recorded = finder.runningRecord()
  const [found, early] = await Promise.all([
    finder.find(),
    recorded === null ? null : askHealth(recorded.host, recorded.port, answerMs),
  ])
  const { control, recordedRuns } = found
  if (typeof control === 'object') {
    const isAsked = early !== null && recorded?.port === control.port
    const port = isAsked ? early : await askHealth(control.host, control.port, answerMs)
    return { found, port, isPortTaken: false, startingPid: startingPid() }
  }
  const isNone = control === 'absent' && !recordedRuns && startingPid() === null
  const isPortTaken = isNone && (await acceptsConnections(plan.host, plan.port, answerMs))
  return { found, port: null, isPortTaken, startingPid: startingPid() }
}
