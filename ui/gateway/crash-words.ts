import type { CrashState, CrashStatus } from '../../src/api/process-status.ts'
import { counted } from '../format/figures.ts'

/** From so many on, crashes in a row are told as a loop. */
const loopCrashes = 3

/** What the dashboard does about a crash; `next` is the time of the next start. */
const sequels: Readonly<Record<CrashState, (crash: CrashStatus, next: string) => string>> = {
  waiting: (_, next) => `The dashboard starts the gateway again at ${next}.`,
  starting: () => 'The dashboard is starting the gateway again.',
  started_again: () => 'The dashboard has started the gateway again.',
  given_up: ({ failed_starts: failed }) =>
    `The gateway did not come up in ${counted(failed, 'start')}, and the dashboard tries no more: Start tries once more.`,
  left: () => 'It was started by hand or by a service manager, so the dashboard does not start it again.',
}

/** Tells a crash in sentences; `timeOf` writes an instant. */
export function crashWords(crash: CrashStatus, timeOf: (ms: number) => string): string {
  const { pid, at, signal, exit_code: code, in_a_row: inARow, state, failed_starts: failed } = crash
  const how = signal ?? (code === null ? null : `exit code ${code}`)
  const next = crash.next_start_at === null ? '' : timeOf(Date.parse(crash.next_start_at))
  return [
    `The gateway (process ${pid}) ended at ${timeOf(Date.parse(at))} without being told to${how === null ? '' : ` (${how})`}.`,
    ...(inARow < loopCrashes ? [] : [`This is crash ${inARow} in a row: its log may say why.`]),
    ...(failed === 0 || state === 'given_up'
      ? []
      : [`${counted(failed, 'start')} since did not bring it up.`]),
    sequels[state](crash, next),
  ].join(' ')
}
