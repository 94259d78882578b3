import type { MinuteUsage } from '../../call/call-sink.ts'
import type { Clock } from '../../call/clock.ts'
import { gather } from '../../call/gather.ts'
import { reportFault } from '../../lib/fault.ts'
import { type Poll, startPoll } from '../../lib/poll.ts'
import type { TokenWindow } from './token-window.ts'

/** A gateway's report of its tokens. */
export interface BudgetMessage {
  /** Tokens that calls in flight may use. */
  readonly reserved: number
  /** The gateway knows all rows up to this number; 0 asks for all minutes. */
  readonly fromSeq: number
}

/** The database's answer to a {@link BudgetMessage}. */
export interface BudgetAnswer {
  readonly tokenLimit: number
  /** Tokens that calls in flight at all other gateways may use. */
  readonly reserved: number
  /** `minutes` includes all rows up to this number. */
  readonly seq: number
  /** True if `minutes` has all minutes that count, not only those with new rows. */
  readonly isAll: boolean
  /** The use of other gateways, by their rows. */
  readonly minutes: readonly MinuteUsage[]
}

/** Carries messages to the database through which gateways share a budget. */
export interface BudgetLink {
  /** Resolves with null if there was no answer, or it took too long. Never rejects. */
  syncBudget(message: BudgetMessage): Promise<BudgetAnswer | null>
}

const beatMs = 500
/** Calls that end within this time are reported together. */
const gatherMs = 20

/**
 * Updates the token window of gateways that share a limit. A gateway counts its own calls at once, and the
 * calls of others about a second later, when their rows arrive. No call waits for the database, so all
 * gateways together may exceed the limit by the tokens that they admit in that time.
 */
export class SharedUsage {
  readonly #link: BudgetLink
  readonly #window: TokenWindow
  #seq = 0
  /** The last reported tokens of calls in flight. */
  #reported = 0
  readonly #poll: Poll

  constructor(clock: Clock, link: BudgetLink, window: TokenWindow) {
    this.#link = link
    this.#window = window
    this.#poll = startPoll({ clock, everyMs: beatMs, read: () => this.#exchange(), onFault: reportFault })
    const report = gather(clock, gatherMs, () => this.#poll.refresh(), { background: true })
    // Others would count an ended call twice if its row came before the report.
    const reserved = (): void => {
      if (Math.ceil(window.reserved) < this.#reported) report()
    }
    window.watch({ reserved })
  }

  close(): void {
    this.#poll.stop()
  }

  async #exchange(): Promise<void> {
    const reserved = Math.ceil(this.#window.reserved)
    this.#reported = reserved
    const answer = await this.#link.syncBudget({ reserved, fromSeq: this.#seq })
    if (answer !== null) this.#learn(answer)
  }

  #learn({ tokenLimit, reserved, seq, isAll, minutes }: BudgetAnswer): void {
    // The database was restored from a backup, so all minutes are requested.
    const isOlder = seq < this.#seq
    this.#seq = isOlder ? 0 : seq
    this.#window.setLimit(tokenLimit)
    this.#window.reserveElsewhere(reserved)
    if (!isOlder) this.#window.learn(minutes, isAll)
  }
}
