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

/** The environment variable of a successor, to which the gateway that started it hands over. */
export const handoverVariable = 'TOKENWEIR_HAND_OVER'

/** All that a gateway hands over to its successor. */
export type Handover = MessageOf<typeof isHandover>

export const isHandover = fits(
  v.object({
    ...claim,
    /** The gateways that report to it, and will report to its successor. */
    predecessors: v.array(predecessorClaim),
    host: v.string(),
    port,
    used: v.array(minuteUsage),
    usedSinceMs: v.nullable(finite),
    usedByOwners: v.array(v.object({ owner: v.string(), used: v.array(minuteUsage) })),
    /** The use of limits a minute. */
    minutes: v.array(handedLimit),
    rawLog: v.object({
      ...rawLogSwitch,
      /** The raw log's option, or its last setting. */
      asked: v.boolean(),
    }),
  }),
)

/** The state of the raw log, so that a restart neither switches it off nor on. */
export type InheritedRawLog = Handover['rawLog']

/**
 * A successor's question. First it asks for the `handover`. When it is ready, it asks for the `listener`, or,
 * to bind another address on the same port, for the `port`. `apart`: the successor is being replaced, and
 * takes no more connections.
 */
export type SuccessorQuestion = MessageOf<typeof isQuestion>

export const isQuestion = fits(v.object({ asks: v.picklist(['handover', 'listener', 'port', 'apart']) }))

/** The answer to the question; a listener comes as a handle. The handover may be of another version. */
export type SuccessorAnswer = MessageOf<typeof hasHandover | typeof isYours>

export const hasHandover = fits(v.object({ handover: v.unknown() }))
export const isYours = fits(v.object({ yours: v.literal(true) }))
