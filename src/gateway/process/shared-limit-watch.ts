import type { Clock } from '../../call/clock.ts'
import { Failure } from '../../call/failure.ts'
import type { SlotLimiter } from '../admission/slot-limiter.ts'
import type { SlotHolder } from '../admission/slot-holder.ts'
import type { CallHandler } from '../call/handle-call.ts'

const checkEveryMs = 250
/** So long a call waits for a database that may be back in a moment. */
const patienceMs = 5000
const retryAfterS = 5

interface GuardedParts {
  readonly clock: Clock
  readonly admission: SlotLimiter
  readonly slots: SlotHolder
  readonly calls: CallHandler
  /** True if calls in flight are ended once their slots are not this gateway's any more. */
  readonly cuts: boolean
}

/** Refuses calls that wait for slots where none is held and the database cannot be asked for one. Gives what ends the look for them. */
export function watchSharedLimit({ clock, admission, slots, calls, cuts }: GuardedParts): () => void {
  let wasSure = false
  let unservedSinceMs: number | null = null
  let cancel = (): void => {}
  const check = (): void => {
    const isSure = slots.leaseIsValid()
    if (wasSure && !isSure && cuts)
      calls.cancelAll(unreachable('The call was ended, as --share-lost cut says.'))
    wasSure = isSure
    if (slots.isServed) unservedSinceMs = null
    else {
      unservedSinceMs ??= clock.now()
      if (clock.now() - unservedSinceMs >= patienceMs) {
        admission.refuseAfter(patienceMs, () => unreachable('No slot is free until it responds.'))
      }
    }
    cancel = clock.after(checkEveryMs, check, { background: true })
  }
  check()
  return () => cancel()
}

function unreachable(more: string): Failure {
  const message = `The database through which gateways share their limit is unreachable. ${more}`
  return new Failure('limit_unreachable', message, { retryAfterS })
}
