import { execFile } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lowerPriority } from '../../lib/process/lower-priority.ts'
import { programChange } from '../../lib/process/program-files.ts'

/** A page that cannot be mended is not tried again all the time. */
const againAfterMs = 600_000

const startedMs = new Map<string, number>()

/**
 * Makes sums anew whose page SQLite has found damaged, in a process of its own that stands back for the calls. Whoever
 * meets the damage asks for it; one at a time works on a database, as the lock of its jobs says.
 */
export function startMending(path: string): void {
  if (programChange() !== null) return
  const nowMs = performance.now()
  if (nowMs - (startedMs.get(path) ?? Number.NEGATIVE_INFINITY) < againAfterMs) return
  startedMs.set(path, nowMs)
  const file = fileURLToPath(new URL(`../jobs/mend-worker${extname(import.meta.url)}`, import.meta.url))
  // If it cannot be started, db check and db rebuild are there for a person.
  const child = execFile(process.execPath, [file, path], { env: {} }, () => undefined)
  if (child.pid !== undefined) lowerPriority(child.pid)
}
