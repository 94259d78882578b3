import type { Clock } from '../../call/clock.ts'
import { Failure } from '../../call/failure.ts'
import { reportFault } from '../../lib/fault.ts'
import { startPoll } from '../../lib/poll.ts'
import type { SlotLimiter } from '../admission/slot-limiter.ts'
import type { SlotHolder } from '../admission/slot-holder.ts'
import type { CallHandler } from '../call/handle-call.ts'

const checkEveryMs = 250
/** Longest wait of a call for a database that may be back soon. */
const patienceMs = 5000
const retryAfterS = 5

interface GuardedParts {
  readonly clock: Clock
  readonly admission: SlotLimiter
  readonly slots: SlotHolder
  readonly calls: CallHandler
  /** True if the gateway ends calls in flight when its lease ends (`--share-lost cut`). */
  readonly cutsCalls: boolean
}

/** Refuses calls that wait while this gateway holds no slot and the database does not answer. Returns a function that ends it. */
export function watchSharedLimit({ clock, admission, slots, calls, cutsCalls }: GuardedParts): () => void {
  let wasValid = false
  let unservedSinceMs: number | null = null
  const check = async (): Promise<void> => {
    const isValid = slots.leaseIsValid()
    if (wasValid && !isValid && cutsCalls)
      calls.cancelAll(unreachable('The call was ended, as --share-lost cut says.'))
    wasValid = isValid
    if (slots.isServed) unservedSinceMs = null
    else {
      unservedSinceMs ??= clock.now()
      if (clock.now() - unservedSinceMs >= patienceMs) {
        admission.refuseAfter(patienceMs, () => unreachable('No slot is free until it responds.'))
      }
    }
  }
  return startPoll({ clock, everyMs: checkEveryMs, read: check, onFault: reportFault }).stop
}

function unreachable(more: string): Failure {
  const message = `The database through which gateways share their limit is unreachable. ${more}`
  return new Failure('limit_unreachable', message, { retryAfterS })
}
