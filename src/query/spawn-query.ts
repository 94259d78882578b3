import { type ChildProcess, fork } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Starts a query process for one database. It only reads, and may be killed in the middle of a statement. */
export type SpawnQuery = () => ChildProcess

/** Both compiled and as source the process's file lies beside this one and ends as it does. */
export function spawnQuery(path: string, env: Readonly<Record<string, string>>): SpawnQuery {
  const file = fileURLToPath(new URL(`./query-worker${extname(import.meta.url)}`, import.meta.url))
  return () =>
    fork(file, [path], {
      env,
      // Flags of this process (a debugger's port, a watch) are not passed on.
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
}
