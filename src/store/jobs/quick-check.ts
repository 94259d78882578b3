import { execFile } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lowerPriority } from '../../lib/lower-priority.ts'

/**
 * What SQLite says is wrong with a database, empty if nothing is; null if it could not say so in time. It is asked in a
 * process of its own that stands back for the calls.
 */
export function quickCheck(path: string, limitMs: number): Promise<string | null> {
  return new Promise((resolve) => {
    const file = fileURLToPath(new URL(`./quick-check-worker${extname(import.meta.url)}`, import.meta.url))
    const options = { env: {}, timeout: limitMs, killSignal: 'SIGKILL' } as const
    const child = execFile(process.execPath, [file, path], options, (error, finding) =>
      resolve(error === null ? finding : null),
    )
    if (child.pid !== undefined) lowerPriority(child.pid)
  })
}
