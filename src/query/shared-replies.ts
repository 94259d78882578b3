import type { Clock } from '../call/clock.ts'
import { dropOldest } from '../lib/drop-oldest.ts'

/** Equal questions within this time get the same answer. */
const sharedMs = 1000
/** Most replies in memory. */
const mostReplies = 64

/** Shares replies: identical questions within a second, or while the answer is pending, are asked once. */
export class SharedReplies<Reply> {
  readonly #clock: Clock
  readonly #isWorthKeeping: (reply: Reply) => boolean
  readonly #replies = new Map<string, Promise<Reply>>()

  /** A reply for which `isWorthKeeping` is false goes only to questions that are asked meanwhile. */
  constructor(clock: Clock, isWorthKeeping: (reply: Reply) => boolean) {
    this.#clock = clock
    this.#isWorthKeeping = isWorthKeeping
  }

  /** The known or expected reply for the key, else the reply of `ask`. */
  get(key: string, ask: () => Promise<Reply>): Promise<Reply> {
    const existing = this.#replies.get(key)
    if (existing !== undefined) return existing
    const untilMs = this.#clock.now() + sharedMs
    const reply = ask()
    const forget = (): void => {
      if (this.#replies.get(key) === reply) this.#replies.delete(key)
    }
    this.#replies.set(key, reply)
    dropOldest(this.#replies, mostReplies)
    reply.then((settled) => {
      const leftMs = untilMs - this.#clock.now()
      if (leftMs <= 0 || !this.#isWorthKeeping(settled)) forget()
      else this.#clock.after(leftMs, forget, { background: true })
    }, forget)
    return reply
  }

  /** Forgets all replies, so that every question is asked again. */
  clear(): void {
    this.#replies.clear()
  }
}
