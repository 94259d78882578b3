import type { CrashState, CrashStatus, GatewayCrash } from '../api/process-status.ts'

/** From this number on, the text counts crashes in a row. */
const loopCrashes = 3

/** The text about a crash: one or two sentences. */
export function crashInWords({ pid, exit_code: code, signal, in_a_row: inARow }: GatewayCrash): string {
  const how = signal ?? (code === null ? null : `exit code ${code}`)
  const loop = inARow < loopCrashes ? '' : ` This is crash ${inARow} in a row: its log may say why.`
  return `The gateway (process ${pid}) crashed${how === null ? '' : ` (${how})`}.${loop}`
}

const afterCrash: Readonly<Record<CrashState, string>> = {
  waiting: 'The dashboard is about to start it again.',
  starting: 'The dashboard is starting it again.',
  started_again: 'The dashboard has started it again.',
  given_up: 'The dashboard tries no more: Start tries once more.',
  left: 'It was started by hand or by a service manager, so the dashboard does not start it again.',
}

/** A crash with its text for page and alerts. */
export function crashStatusOf(crash: Omit<CrashStatus, 'text'>): CrashStatus {
  const { failed_starts: failed, state } = crash
  const starts = failed === 0 ? '' : ` It did not come up in ${failed} start${failed === 1 ? '' : 's'} since.`
  return { ...crash, text: `${crashInWords(crash)}${starts} ${afterCrash[state]}` }
}
