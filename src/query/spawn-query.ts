import { type ChildProcess, fork } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Starts a query process for one database. It only reads, and may be killed in the middle of a statement. */
export type SpawnQuery = () => ChildProcess

/**
 * The young generation of V8's heap, in megabytes for each half. V8 would let it grow to 96 MB and keep them: a process
 * that has 15 MB of objects then takes 190 to 260 MB of memory, and 150 MB with this limit, for the same CPU time.
 */
const semiSpaceMb = 16

/** Both compiled and as source the process's file lies beside this one and ends as it does. */
export function spawnQuery(path: string, env: Readonly<Record<string, string>>): SpawnQuery {
  const file = fileURLToPath(new URL(`./query-worker${extname(import.meta.url)}`, import.meta.url))
  return () =>
    fork(file, [path], {
      env,
      // Flags of this process (a debugger's port, a watch) are not passed on.
      execArgv: [`--max-semi-space-size=${semiSpaceMb}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
}
