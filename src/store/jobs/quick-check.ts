import { type ChildProcess, execFile } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../call/clock.ts'
import { lowerPriority } from '../../lib/lower-priority.ts'
import { fileKey } from '../sqlite/store-files.ts'

/** It reads the whole file; a disk that is slower than this is better left to the calls. */
const limitMs = 300_000
const againAfterMs = 24 * 3_600_000

/**
 * Looks the database at `path` through `afterMs` after the start (the gateway's own start goes first) and then once a day, in
 * a process of its own that stands back for the calls and may be killed at any time. A page that was damaged is else not seen
 * until somebody comes upon it. `onDamage` is told what SQLite says is wrong with the file that is there; of all else
 * nothing is told. Gives back what ends it.
 */
export function startQuickChecks(
  path: string,
  clock: Pick<Clock, 'after'>,
  afterMs: number,
  onDamage: (finding: string) => void,
): () => void {
  let child: ChildProcess | null = null
  const run = (): void => {
    const key = fileKey(path)
    child = startQuickCheck(path, limitMs, (finding) => {
      // Killed meanwhile, or the file was put aside already.
      if (finding !== null && finding !== '' && fileKey(path) === key) onDamage(finding)
    })
  }
  const plan = (delayMs: number): (() => void) =>
    clock.after(delayMs, () => {
      cancel = plan(againAfterMs)
      run()
    })
  let cancel = plan(afterMs)
  return () => {
    cancel()
    child?.kill('SIGKILL')
  }
}

/** What SQLite says is wrong with a database, empty if nothing is; null if it could not say so in time. */
export function quickCheck(path: string, limitMs: number): Promise<string | null> {
  return new Promise((resolve) => void startQuickCheck(path, limitMs, resolve))
}

function startQuickCheck(
  path: string,
  timeout: number,
  onEnd: (finding: string | null) => void,
): ChildProcess {
  const file = fileURLToPath(new URL(`./quick-check-worker${extname(import.meta.url)}`, import.meta.url))
  const options = { env: {}, timeout, killSignal: 'SIGKILL' } as const
  // Where it cannot be started all goes on without.
  const child = execFile(process.execPath, [file, path], options, (error, finding) =>
    onEnd(error === null ? finding : null),
  )
  if (child.pid !== undefined) lowerPriority(child.pid)
  return child
}
