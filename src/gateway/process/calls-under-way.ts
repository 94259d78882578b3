import type { LiveCalls } from '../../api/live-calls.ts'
import { parseCallId } from '../../call/call-id.ts'
import type { Clock } from '../../call/clock.ts'
import type { CallsAnswer } from '../../control/control-messages.ts'
import type { SlotLimiter } from '../admission/slot-limiter.ts'
import type { CallHandler } from '../call/handle-call.ts'
import { LiveBoard } from '../call/live-board.ts'
import type { OldGateways } from '../handover/old-gateways.ts'

/** Most calls in one answer. */
const mostCalls = 1000

interface CallsUnderWayParts {
  readonly calls: CallHandler
  /** The slots of each upstream. */
  readonly admissions: () => readonly SlotLimiter[]
  readonly clock: Clock
  readonly oldGateways: OldGateways
}

/** The running calls of this gateway, and of the old gateways that still finish theirs. */
export class CallsUnderWay {
  readonly #parts: CallsUnderWayParts
  readonly #board = new LiveBoard()

  constructor(parts: CallsUnderWayParts) {
    this.#parts = parts
  }

  async live(): Promise<LiveCalls> {
    const { oldGateways } = this.#parts
    const others = await oldGateways.ask(null)
    const ownCalls = this.#snapshot()
    return others.length === 0 ? ownCalls : merged([ownCalls, ...others.map(({ live }) => live)])
  }

  /** Cancels a call, here or at an old gateway. Resolves with false if no call with this id is running. */
  async cancel(id: string): Promise<boolean> {
    if (this.#cancel(id)) return true
    const answers = await this.#parts.oldGateways.ask(id)
    return answers.some(({ cancelled }) => cancelled)
  }

  /** Answers a successor: all calls here, or whether the call with this id was cancelled. */
  answer(cancel: string | null): Omit<CallsAnswer, 'seq'> {
    if (cancel !== null) return { live: { calls: [], more: 0 }, cancelled: this.#cancel(cancel) }
    return { live: this.#snapshot(), cancelled: false }
  }

  #snapshot(): LiveCalls {
    const { calls, admissions, clock } = this.#parts
    const live = this.#board.snapshot(
      calls.running,
      admissions().map((admission) => admission.waiting()),
      clock.now(),
    )
    return merged([{ calls: live, more: 0 }])
  }

  #cancel(id: string): boolean {
    const number = parseCallId(id)
    return number !== null && this.#parts.calls.cancel(number)
  }
}

function merged(boards: readonly LiveCalls[]): LiveCalls {
  const all = boards.flatMap(({ calls }) => calls).sort((a, b) => (a.id < b.id ? -1 : 1))
  const more = boards.reduce((sum, board) => sum + board.more, Math.max(0, all.length - mostCalls))
  return { calls: all.slice(0, mostCalls), more }
}
