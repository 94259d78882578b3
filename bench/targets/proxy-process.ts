import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** SIGKILL, and waits for the end. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}
