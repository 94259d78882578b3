import { execFile } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lowerPriority } from '../../lib/process/lower-priority.ts'
import { programChange } from '../../lib/process/program-files.ts'

/** Pause (ms) before the next repair of a page. */
const againAfterMs = 600_000

const startedMs = new Map<string, number>()

/**
 * Computes sums on a damaged page again, in a process of low priority. Any reader or writer that finds the
 * damage starts it. The job lock allows one process at a time.
 */
export function startMending(path: string): void {
  if (programChange() !== null) return
  const nowMs = performance.now()
  if (nowMs - (startedMs.get(path) ?? Number.NEGATIVE_INFINITY) < againAfterMs) return
  startedMs.set(path, nowMs)
  const file = fileURLToPath(new URL(`../jobs/mend-worker${extname(import.meta.url)}`, import.meta.url))
  // If the process cannot be started, `db check` and `db rebuild` still help.
  const child = execFile(process.execPath, [file, path], { env: {} }, () => undefined)
  if (child.pid !== undefined) lowerPriority(child.pid)
}
