import type { Clock } from '../../call/clock.ts'
import { Failure } from '../../call/failure.ts'
import type { SlotLimiter } from '../admission/slot-limiter.ts'
import type { SlotHolder } from '../admission/slot-holder.ts'

const lookEveryMs = 250
/** So long a call waits for a database that may be back in a moment. */
const patienceMs = 5000
const retryAfterS = 5

interface GuardedParts {
  readonly clock: Clock
  readonly admission: SlotLimiter
  readonly slots: SlotHolder
}

/** Refuses calls that wait for slots where none is held and the database cannot be asked for one. Gives what ends the look for them. */
export function watchSharedLimit({ clock, admission, slots }: GuardedParts): () => void {
  let unservedSinceMs: number | null = null
  let cancel = (): void => {}
  const check = (): void => {
    if (slots.isServed) unservedSinceMs = null
    else {
      unservedSinceMs ??= clock.now()
      if (clock.now() - unservedSinceMs >= patienceMs) {
        admission.refuseAfter(patienceMs, unreachable)
      }
    }
    cancel = clock.after(lookEveryMs, check, { background: true })
  }
  check()
  return () => cancel()
}

function unreachable(): Failure {
  const message =
    'The database through which gateways share their limit is unreachable. No slot is free until it responds.'
  return new Failure('limit_unreachable', message, { retryAfterS })
}
