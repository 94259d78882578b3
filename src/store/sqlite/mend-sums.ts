import { execFile } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lowerPriority } from '../../lib/process/lower-priority.ts'
import { programChange } from '../../lib/process/program-files.ts'

/** Pause before the next try to mend a page. */
const againAfterMs = 600_000

const startedMs = new Map<string, number>()

/**
 * Computes sums on a damaged page again, in a process of low priority. Any reader or writer that meets the damage starts it; the
 * job lock keeps a second process from working on the same database.
 */
export function startMending(path: string): void {
  if (programChange() !== null) return
  const nowMs = performance.now()
  if (nowMs - (startedMs.get(path) ?? Number.NEGATIVE_INFINITY) < againAfterMs) return
  startedMs.set(path, nowMs)
  const file = fileURLToPath(new URL(`../jobs/mend-worker${extname(import.meta.url)}`, import.meta.url))
  // If the process cannot be started, a person has db check and db rebuild.
  const child = execFile(process.execPath, [file, path], { env: {} }, () => undefined)
  if (child.pid !== undefined) lowerPriority(child.pid)
}
