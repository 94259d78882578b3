import { closeSync, openSync } from 'node:fs'
import type { Server } from 'node:http'
import type { MinuteUsage } from '../../call/call-sink.ts'
import { type Clock, systemClock, within } from '../../call/clock.ts'
import type { HandOverFailure, HandOverOrder } from '../../control/control-messages.ts'
import { isIdentity, isMinuteUsage, isPort, isRawLogSwitch } from '../../control/control-messages.ts'
import type { ProcessIdentity } from '../../lib/process-identity.ts'
import {
  type Shape,
  isAmount,
  isCount,
  isFlag,
  isOneOf,
  isText,
  listOf,
  nullable,
  optional,
  record,
} from '../../lib/message-shape.ts'
import {
  type SpawnAnswer,
  type SpawnedGateway,
  endInWords,
  exitPortInUse,
  spawnGateway,
} from '../../control/spawn-gateway.ts'
import type { InheritedRawLog } from '../process/gateway-raw-log.ts'

/** By this variable a process knows that the one which started it waits to hand over to it. */
export const handOverVariable = 'TOKENWEIR_HAND_OVER'

const killLimitMs = 5000

/** What a gateway leaves to its successor, beside its place. */
export interface Bequest {
  /** What the token budget counts; `null` where it is not known yet, and the database has to be asked. */
  readonly used: readonly MinuteUsage[] | null
  /** Tokens that calls in flight may still use, here and before; a gateway of an older version does not tell. */
  readonly reserved: number
  /** How the payload log is; a gateway of an older version has none. */
  readonly rawLog?: InheritedRawLog | undefined
}

/** All that a gateway leaves to its successor. */
export interface Handover extends Bequest {
  readonly instance: string
  readonly identity: ProcessIdentity
  readonly host: string
  readonly port: number
  /** What it may be using until it reports, together with those that report to it. */
  readonly slots: number
}

/**
 * What a successor asks before it is ready: first for the handover; when all else is done for the listener, or, where it
 * binds another address on the same port, for the port.
 */
export interface SuccessorQuestion {
  readonly asks: 'handover' | 'listener' | 'port'
}

/** What it is answered; a listener comes as the handle beside it. */
export type SuccessorAnswer = { readonly handover: Handover } | { readonly yours: true }

const isQuestion = record<SuccessorQuestion>({ asks: isOneOf(['handover', 'listener', 'port']) })

const isAsked = record<Pick<InheritedRawLog, 'asked'>>({ asked: isFlag })

export const isHandover: Shape<Handover> = record<Handover>({
  instance: isText,
  identity: isIdentity,
  host: isText,
  port: isPort,
  slots: isCount,
  used: nullable(listOf(isMinuteUsage)),
  reserved: isAmount,
  rawLog: optional((value): value is InheritedRawLog => isRawLogSwitch(value) && isAsked(value)),
})

/** Why there is no successor, in words. */
export class HandOverError extends Error {
  readonly code: HandOverFailure

  constructor(code: HandOverFailure, message: string) {
    super(message)
    this.name = 'HandOverError'
    this.code = code
  }
}

export interface HandingOverOptions {
  readonly order: HandOverOrder
  readonly listener: Server
  /** Asked when the successor is about to begin. */
  readonly handover: () => Handover
  /** Stops listening. */
  readonly makeWay: () => void
  /** Told at once which process it is, so that it can be ended. */
  readonly started: (successor: SpawnedGateway) => void
  readonly clock?: Clock
}

/**
 * Starts a successor and gives it the listening socket, so that no connection is ever refused. Resolves with it
 * when it accepts calls; rejects with {@link HandOverError} when it has ended without.
 */
export async function startSuccessor(options: HandingOverOptions): Promise<SpawnedGateway> {
  const { order, clock = systemClock } = options
  const successor = spawn(options)
  options.started(successor)
  const begun = await within(clock, order.limit_ms, successor.begun)
  if (begun !== 'late' && 'ready' in begun && begun.controlled) {
    successor.release()
    return successor
  }
  successor.kill()
  await within(clock, killLimitMs, successor.ended)
  successor.release()
  if (begun === 'late') {
    const message = `The new gateway was not ready within ${order.limit_ms / 1000} s.`
    throw new HandOverError('not_up', message)
  }
  if ('ready' in begun)
    throw new HandOverError('not_up', 'The new gateway could not open its control socket.')
  const code = begun.code === exitPortInUse ? 'port_in_use' : 'not_up'
  throw new HandOverError(code, `The new gateway ${endInWords(begun)}.`)
}

function spawn({ order, listener, handover, makeWay }: HandingOverOptions): SpawnedGateway {
  const { command, args, cwd, log_file: logFile } = order
  const answer = (question: unknown): SpawnAnswer | null => {
    if (!isQuestion(question)) return null
    if (question.asks === 'handover') return { message: { handover: handover() } satisfies SuccessorAnswer }
    const message: SuccessorAnswer = { yours: true }
    if (question.asks === 'listener') return { message, handle: listener }
    makeWay()
    return { message }
  }
  let logDescriptor: number | null = null
  try {
    logDescriptor = openSync(logFile, 'a', 0o600)
    const env = { ...order.env, [handOverVariable]: '1' }
    return spawnGateway({ command, args, env, cwd, logDescriptor, answer })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new HandOverError('not_up', `The new gateway could not be started: ${why}.`)
  } finally {
    if (logDescriptor !== null) closeSync(logDescriptor)
  }
}
