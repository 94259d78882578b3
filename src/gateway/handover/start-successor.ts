import { closeSync, openSync } from 'node:fs'
import type { Server } from 'node:http'
import { type Clock, within } from '../../call/clock.ts'
import type { HandOverAnswer, HandOverFailure, HandOverOrder } from '../../control/control-messages.ts'
import {
  type SpawnAnswer,
  type SpawnedGateway,
  endInWords,
  exitPortInUse,
  spawnGateway,
} from '../../control/spawn-gateway.ts'
import { messageOf } from '../../lib/caught.ts'
import { type Handover, type SuccessorAnswer, handoverVariable, isQuestion } from './handover.ts'

const killLimitMs = 5000

/** What the gateway gives that is to be replaced. */
export interface HandoverSource {
  readonly server: Server
  /** Asked when the successor is about to begin. */
  readonly handover: () => Handover
  /** Stops listening, so that the successor can bind the port. */
  readonly makeWay: () => void
  /** Told at once which process it is, so that it can be ended. */
  readonly started: (successor: SpawnedGateway) => void
}

/**
 * Starts a successor and gives it the listening socket, so that no connection is ever refused. Resolves when it accepts
 * calls, or has ended without.
 */
export async function startSuccessor(
  order: HandOverOrder,
  source: HandoverSource,
  clock: Clock,
): Promise<HandOverAnswer> {
  let successor: SpawnedGateway
  try {
    successor = spawn(order, source)
  } catch (error) {
    return failed('not_up', `could not be started: ${messageOf(error)}`)
  }
  source.started(successor)
  const begun = await within(clock, order.limit_ms, successor.begun)
  const isUp = begun !== 'late' && 'ready' in begun && begun.controlled
  if (!isUp) {
    successor.kill()
    await within(clock, killLimitMs, successor.ended)
  }
  successor.release()
  if (isUp && successor.pid !== null) return { successor: { pid: successor.pid } }
  if (begun === 'late') return failed('not_up', `was not ready within ${order.limit_ms / 1000} s`)
  if ('ready' in begun) return failed('not_up', 'could not open its control socket')
  return failed(begun.code === exitPortInUse ? 'port_in_use' : 'not_up', endInWords(begun))
}

/** `why` completes "The new gateway …". */
function failed(code: HandOverFailure, why: string): HandOverAnswer {
  return { failed: `The new gateway ${why}.`, code }
}

/** Throws the system's error. */
function spawn(
  { command, args, env, cwd, log_file: logFile }: HandOverOrder,
  { server, handover, makeWay }: HandoverSource,
): SpawnedGateway {
  const answer = (question: unknown): SpawnAnswer | null => {
    if (!isQuestion(question)) return null
    if (question.asks === 'handover') return { message: { handover: handover() } satisfies SuccessorAnswer }
    const message: SuccessorAnswer = { yours: true }
    if (question.asks === 'listener') return { message, handle: server }
    makeWay()
    return { message }
  }
  const logDescriptor = openSync(logFile, 'a', 0o600)
  try {
    return spawnGateway({
      command,
      args,
      env: { ...env, [handoverVariable]: '1' },
      cwd,
      logDescriptor,
      answer,
    })
  } finally {
    closeSync(logDescriptor)
  }
}
