import type { Clock } from '../../call/clock.ts'
import type { GatewayLog } from '../../gateway/process/gateway-parts.ts'
import type { RunningGateway } from '../../gateway/process/running-gateway.ts'
import { WarningLines } from './warning-lines.ts'

const lookEveryMs = 1000

/** What a gateway says goes to the standard output, what it complains of to the standard error. */
export const gatewayLog: GatewayLog = {
  say: (line) => console.log(line),
  complain: (line, ...errors) => console.error(`tokenweir: ${line}`, ...errors),
}

/** Says that calls are recorded, once that is so, and every warning as it comes. */
export function tellOfRecording(gateway: RunningGateway, db: string, clock: Clock): void {
  const lines = new WarningLines()
  const look = (): void => {
    for (const line of lines.next(gateway.warnings)) console.error(line)
    clock.after(lookEveryMs, look, { background: true })
  }
  clock.after(0, look, { background: true })
  void gateway.records().then(() => {
    if (!gateway.isStopping) console.log(`calls are recorded in ${db}`)
  })
}

/** Begins each line of this process's log with its time, ISO 8601 in UTC. */
export function stampLog(clock: Clock): void {
  for (const name of ['log', 'error'] as const) {
    const write = console[name].bind(console)
    console[name] = (...parts: readonly unknown[]) =>
      write(new Date(clock.wallTime()).toISOString(), ...parts)
  }
}
