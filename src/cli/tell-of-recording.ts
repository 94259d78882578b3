import type { Warning } from '../call/call-sink.ts'
import type { Clock } from '../call/clock.ts'
import { WarningLines } from './warning-lines.ts'

const lookEveryMs = 1000

export interface RecordingToTell {
  readonly clock: Clock
  readonly db: string
  /** Resolves when the database can be written and read, or it is known that it never could. */
  readonly opened: Promise<boolean>
  readonly warnings: () => readonly Warning[]
}

/** Says on the log that calls are recorded, once that is so, and every warning as it comes. */
export function tellOfRecording({ clock, db, opened, warnings }: RecordingToTell): void {
  const lines = new WarningLines()
  const look = (): void => {
    for (const line of lines.next(warnings())) console.error(line)
    clock.after(lookEveryMs, look, { background: true })
  }
  look()
  void opened.then((isOpen) => {
    if (isOpen) console.log(`calls are recorded in ${db}`)
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
