import { fork } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type FromQuery, type ToQuery, isFromQuery, isQueryReady } from './query-messages.ts'

/** A query process that runs. */
export interface SpawnedQuery {
  ask(question: ToQuery): void
  /** Ends it at once, in the middle of a statement too: it only reads. */
  kill(): void
}

/** What is told of it. */
export interface QueryEvents {
  /** Once, before the first reply: it has loaded, and begins with what it was asked. */
  readonly onReady: () => void
  readonly onReply: (message: FromQuery) => void
  /** Once, whatever ended it; also where it could not be started. */
  readonly onEnd: (reason: string) => void
}

/** Starts a query process for the database at a path. */
export type SpawnQuery = (events: QueryEvents) => SpawnedQuery

/** Both compiled and as source the process's file lies beside this one and ends as it does. */
export function spawnQuery(path: string, env: Readonly<Record<string, string>>): SpawnQuery {
  const file = fileURLToPath(new URL(`./query-worker${extname(import.meta.url)}`, import.meta.url))
  return ({ onReady, onReply, onEnd }) => {
    let hasEnded = false
    const end = (reason: string): void => {
      if (hasEnded) return
      hasEnded = true
      onEnd(reason)
    }
    const child = fork(file, [path], {
      env,
      // Of this process's own flags (a debugger's port, a watch) none is meant for that one.
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    child.on('message', (message) => {
      const told: unknown = message
      if (isFromQuery(told)) onReply(told)
      else if (isQueryReady(told)) onReady()
    })
    child.once('exit', (code, signal) => end(signal ?? `exit code ${code}`))
    child.on('error', (error) => {
      if (child.pid === undefined) end(error.message)
    })
    return {
      // Where the channel is gone, the end is about to be told.
      ask: (question) => void child.send(question, () => {}),
      kill: () => void child.kill('SIGKILL'),
    }
  }
}
