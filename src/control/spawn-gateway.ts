import { type SendHandle, spawn } from 'node:child_process'
import { closeSync, constants, fchmodSync, mkdirSync } from 'node:fs'
import type { Socket } from 'node:net'
import { dirname } from 'node:path'
import * as v from 'valibot'
import type { GatewayCrash } from '../api/process-status.ts'
import { openOwnFile } from '../lib/files/file-rights.ts'
import { type MessageOf, fits } from '../lib/message-schema.ts'
import { readMessage } from '../lib/message-shape.ts'
import { gatewayCrash } from './control-messages.ts'

/** The exit code of a gateway whose port is in use, as `src/cli/exit-code.ts` has it. */
export const exitPortInUse = 3

/** The variable of a supervised gateway: the crash after which the gateway is started, as JSON, or `null`. */
const supervisedVariable = 'TOKENWEIR_SUPERVISED'

/** How a gateway was started. */
export interface StartedBy {
  /** A dashboard or the predecessor started the gateway. */
  readonly supervised: boolean
  readonly crash: GatewayCrash | null
}

/** Reads the variable, and removes it from the environment. */
export function startedBy(env: NodeJS.ProcessEnv): StartedBy {
  const text = env[supervisedVariable]
  delete env[supervisedVariable]
  return { supervised: text !== undefined, crash: readMessage(text ?? '', fits(gatewayCrash)) }
}

/** The end of a gateway's process. */
export interface GatewayEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** Why the process could not be started; null if it was. */
  readonly problem: string | null
}

/** A started gateway's message when it listens. */
export type ReadyMessage = MessageOf<typeof isReady>

const isReady = fits(
  v.object({
    ready: v.literal(true),
    /** True if the gateway got the control socket of its data folder. */
    controlled: v.boolean(),
  }),
)

/** A gateway's process that was started here. */
export interface SpawnedGateway {
  /** `null` if the process could not be started. */
  readonly pid: number | null
  /** Resolves when the gateway is ready, or when it has ended before that. Never rejects. */
  readonly begun: Promise<ReadyMessage | GatewayEnd>
  /** Never rejects. */
  readonly ended: Promise<GatewayEnd>
  /** Stops the gateway in order; before it listens, it ends at once. */
  stop(): void
  /** Kills the gateway. The process id of a child cannot be reused before its end was seen. */
  kill(): void
  /**
   * Passes a connection to the gateway; this process must not use it any more. Resolves with false if that
   * fails. Never rejects.
   */
  give(connection: Socket): Promise<boolean>
  /** Detaches the gateway: from now on, neither process keeps the other alive or gets its messages. */
  release(): void
}

/** How to start a gateway. */
export interface SpawnOptions {
  /** The program and its first arguments. */
  readonly command: readonly string[]
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /**
   * The file to which the gateway's output is appended. A pipe would break when this process ends, and end
   * the gateway.
   */
  readonly logFile: string
  /** The working directory (default: that of this process). */
  readonly cwd?: string
  /** The crash after which the gateway is started. */
  readonly crash?: GatewayCrash | null
  /** Answers the gateway's questions before it is ready; `null` for any other message. */
  readonly answer?: (question: unknown) => SpawnAnswer | null
}

/** An answer to a process that is starting, and perhaps a socket with it. */
export interface SpawnAnswer {
  readonly message: object
  readonly handle?: SendHandle
}

/**
 * Starts a gateway in a separate session, so that it outlives this process. Throws the system's error, or a
 * readable one if the log cannot be opened.
 */
export function spawnGateway(options: SpawnOptions): SpawnedGateway {
  const { command, args, env, logFile, cwd = process.cwd(), crash = null, answer } = options
  const [program = '', ...first] = command
  mkdirSync(dirname(logFile), { recursive: true, mode: 0o700 })
  using closing = new DisposableStack()
  const log = closing.adopt(openOwnFile(logFile, constants.O_WRONLY | constants.O_APPEND), closeSync)
  fchmodSync(log, 0o600)
  const child = spawn(program, [...first, ...args], {
    cwd,
    detached: true,
    env: { ...env, [supervisedVariable]: JSON.stringify(crash) },
    shell: false,
    stdio: ['ignore', log, log, 'ipc'],
    windowsHide: true,
  })
  const ended = new Promise<GatewayEnd>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal, problem: null }))
    child.on('error', (error) => {
      // A running process may also report errors of its channel, which are not its end.
      if (child.pid === undefined) resolve({ code: null, signal: null, problem: error.message })
    })
  })
  const ready = new Promise<ReadyMessage>((resolve) => {
    child.on('message', (message) => {
      if (isReady(message)) resolve(message)
      const reply = answer?.(message) ?? null
      // An error means that the gateway has ended, which `ended` reports.
      if (reply !== null) child.send(reply.message, reply.handle, undefined, () => {})
    })
  })
  return {
    pid: child.pid ?? null,
    begun: Promise.race([ready, ended]),
    ended,
    stop: () => void child.kill('SIGTERM'),
    kill: () => void child.kill('SIGKILL'),
    give: (connection) =>
      new Promise((resolve) => {
        child.send({ connection: true }, connection, {}, (error) => resolve(error === null))
      }),
    release: () => {
      if (child.connected) child.disconnect()
      child.unref()
    },
  }
}

/** Completes the sentence "The gateway …". */
export function endInWords({ code, signal, problem }: GatewayEnd): string {
  if (problem !== null) return `could not be started: ${problem}`
  return signal === null ? `ended with exit code ${code}` : `was ended by signal ${signal}`
}
