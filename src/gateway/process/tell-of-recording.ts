import type { Clock } from '../../call/clock.ts'
import type { Health } from '../http/health.ts'
import { WarningLines } from '../../cli/terminal/warning-lines.ts'

const lookEveryMs = 1000

export interface RecordingToTell {
  readonly clock: Clock
  readonly db: string
  /** Answers once the database can be read and written, or is given up at the end. */
  readonly sink: { usageByMinute(fromMinute: number): Promise<unknown> }
  readonly health: Health
  readonly isStopping: () => boolean
}

/** Says on the log that calls are recorded, once that is so, and every warning as it comes. */
export function tellOfRecording({ clock, db, sink, health, isStopping }: RecordingToTell): void {
  const lines = new WarningLines()
  const look = (): void => {
    for (const line of lines.next(health.report(isStopping()).warnings)) console.error(line)
    clock.after(lookEveryMs, look, { background: true })
  }
  clock.after(0, look, { background: true })
  void sink.usageByMinute(Math.floor(clock.wallTime() / 60_000)).then(() => {
    if (!isStopping()) console.log(`calls are recorded in ${db}`)
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
