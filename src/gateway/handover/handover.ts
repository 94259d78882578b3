import {
  claim,
  isHandedLimit,
  isMinuteUsage,
  isPort,
  isPredecessorClaim,
  rawLogSwitch,
} from '../../control/control-messages.ts'
import {
  type MessageOf,
  isFlag,
  isNumber,
  isObject,
  isOneOf,
  isText,
  listOf,
  nullable,
  optional,
  record,
} from '../../lib/message-shape.ts'

/** By this variable a process knows that the one which started it waits to hand over to it. */
export const handoverVariable = 'TOKENWEIR_HAND_OVER'

/** All that a gateway hands over to its successor. */
export type Handover = MessageOf<typeof isHandover>

export const isHandover = record({
  ...claim,
  /** The gateways that report to it, and will report to its successor. */
  predecessors: listOf(isPredecessorClaim),
  /** When this was told: what ended before is in `used`, all else comes in reports. ms since the Unix epoch. */
  atMs: isNumber,
  host: isText,
  port: isPort,
  /** What the token budget counts. */
  used: listOf(isMinuteUsage),
  /** If that is not all yet, it is of calls that began since then; those before are in the database. ms since the Unix epoch. */
  usedSinceMs: nullable(isNumber),
  /** The same of clients, keys and upstreams with budgets of their own; absent in earlier versions. */
  usedByOwners: optional(listOf(record({ owner: isText, used: listOf(isMinuteUsage) }))),
  /** What was taken of limits a minute; absent in earlier versions. */
  minutes: optional(listOf(isHandedLimit)),
  rawLog: record({
    ...rawLogSwitch,
    /** What the option said, or the last setting. */
    asked: isFlag,
  }),
})

/** A successor goes on with this payload log, so that a restart neither loses an active payload log nor ends it. */
export type InheritedRawLog = Handover['rawLog']

/**
 * What a successor asks: first for the handover; when all else is done for the listener, or, if it binds another address on
 * the same port, for the port. `apart`: it is replaced itself, and takes no more connections.
 */
export type SuccessorQuestion = MessageOf<typeof isQuestion>

export const isQuestion = record({ asks: isOneOf(['handover', 'listener', 'port', 'apart']) })

/** What it is answered; a listener comes as the handle beside it. What is handed over may be of another version. */
export type SuccessorAnswer = MessageOf<typeof tellsHandover | typeof isYours>

export const tellsHandover = record({ handover: isObject })
export const isYours = record({ yours: isOneOf([true]) })
