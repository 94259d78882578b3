import * as v from 'valibot'
import {
  claim,
  handedLimit,
  minuteUsage,
  port,
  predecessorClaim,
  rawLogSwitch,
} from '../../control/control-messages.ts'
import { type MessageOf, finite, fits } from '../../lib/message-schema.ts'

/** By this variable a process knows that the one which started it waits to hand over to it. */
export const handoverVariable = 'TOKENWEIR_HAND_OVER'

/** All that a gateway hands over to its successor. */
export type Handover = MessageOf<typeof isHandover>

export const isHandover = fits(
  v.object({
    ...claim,
    /** The gateways that report to it, and will report to its successor. */
    predecessors: v.array(predecessorClaim),
    /** When this was told: what ended before is in `used`, all else comes in reports. ms since the Unix epoch. */
    atMs: finite,
    host: v.string(),
    port,
    /** The use of the token budget. */
    used: v.array(minuteUsage),
    /** If that is not all yet, it is of calls that began since then; those before are in the database. ms since the Unix epoch. */
    usedSinceMs: v.nullable(finite),
    /** The same of clients, keys and upstreams with budgets of their own. */
    usedByOwners: v.array(v.object({ owner: v.string(), used: v.array(minuteUsage) })),
    /** The amounts taken of limits a minute. */
    minutes: v.array(handedLimit),
    rawLog: v.object({
      ...rawLogSwitch,
      /** The option's value, or the last setting. */
      asked: v.boolean(),
    }),
  }),
)

/** A successor goes on with this payload log, so that a restart neither loses an active payload log nor ends it. */
export type InheritedRawLog = Handover['rawLog']

/**
 * A successor's question: first for the handover; once all is ready for the listener, or, if it binds another address on
 * the same port, for the port. `apart`: it is replaced itself, and takes no more connections.
 */
export type SuccessorQuestion = MessageOf<typeof isQuestion>

export const isQuestion = fits(v.object({ asks: v.picklist(['handover', 'listener', 'port', 'apart']) }))

/** The answer to it; a listener comes as a handle. The handover may be of another version. */
export type SuccessorAnswer = MessageOf<typeof tellsHandover | typeof isYours>

export const tellsHandover = fits(v.object({ handover: v.unknown() }))
export const isYours = fits(v.object({ yours: v.literal(true) }))
