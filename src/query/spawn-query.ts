import { type ChildProcess, fork } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Starts a query process for a database. The process only reads, and may be killed at any time. */
export type SpawnQuery = () => ChildProcess

/**
 * Limit of V8's young generation, in megabytes for each half. V8 would let it grow to 96 MB and keep the
 * memory. A process with 15 MB of objects then takes 190 to 260 MB; with this limit it takes 150 MB, for the
 * same CPU time.
 */
const semiSpaceMb = 16

/**
 * Returns a function that starts query processes for the database at `path`. The process's file is beside
 * this one, with the same extension in source and build.
 */
export function spawnQuery(path: string, env: Readonly<Record<string, string>>): SpawnQuery {
  const file = fileURLToPath(new URL(`./query-worker${extname(import.meta.url)}`, import.meta.url))
  return () =>
    fork(file, [path], {
      env,
      // Flags of this process, such as a debugger's port, are not passed on.
      execArgv: [`--max-semi-space-size=${semiSpaceMb}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
}
