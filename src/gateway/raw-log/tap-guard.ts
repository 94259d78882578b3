import type { Clock } from '../../call/clock.ts'
import type { PayloadTap } from '../../call/payload-log.ts'

/** A tap that never throws, and looks at the clock by itself. */
export type GuardedTap = Omit<PayloadTap, 'answerData'> & { answerData(chunk: Uint8Array): void }

/**
 * Keeps one call safe from its tap: one that throws is detached for the rest of the call, and reported once.
 * `onDetached` must not throw.
 */
export function guardTap(tap: PayloadTap, clock: Clock, onDetached: (error: unknown) => void): GuardedTap {
  let attached: PayloadTap | null = tap
  const show = (verb: (tap: PayloadTap) => void): void => {
    try {
      if (attached !== null) verb(attached)
    } catch (error) {
      attached = null
      onDetached(error)
    }
  }
  return {
    requestData: (chunk) => show((tap) => tap.requestData(chunk)),
    requestEnd: (model, stream) => show((tap) => tap.requestEnd(model, stream)),
    answerHead: (status, headers) => show((tap) => tap.answerHead(status, headers)),
    answerData: (chunk) => show((tap) => tap.answerData(chunk, clock.now())),
    ended: (record) => show((tap) => tap.ended(record)),
  }
}
