import type { Clock } from '../call/clock.ts'

/** Equal questions within this time get the same answer. */
const sharedMs = 1000
/** Most settled replies in memory. */
const mostReplies = 32

interface SharedReply<Reply> {
  readonly reply: Promise<Reply>
  readonly askedAtMs: number
  isSettled: boolean
}

/** Shares replies: identical questions within a second, or while the answer is pending, are asked once. */
export class SharedReplies<Reply> {
  readonly #clock: Clock
  readonly #isWorthKeeping: (reply: Reply) => boolean
  readonly #replies = new Map<string, SharedReply<Reply>>()

  /** A reply for which `isWorthKeeping` is false goes only to questions that are asked meanwhile. */
  constructor(clock: Clock, isWorthKeeping: (reply: Reply) => boolean) {
    this.#clock = clock
    this.#isWorthKeeping = isWorthKeeping
  }

  /** The known or expected reply for the key, else the reply of `ask`. */
  get(key: string, ask: () => Promise<Reply>): Promise<Reply> {
    this.#forgetOld()
    const existing = this.#replies.get(key)
    if (existing !== undefined) return existing.reply
    const shared: SharedReply<Reply> = { reply: ask(), askedAtMs: this.#clock.now(), isSettled: false }
    this.#replies.set(key, shared)
    shared.reply.then(
      (reply) => this.#settle(key, shared, this.#isWorthKeeping(reply)),
      () => this.#settle(key, shared, false),
    )
    return shared.reply
  }

  #settle(key: string, shared: SharedReply<Reply>, isWorthKeeping: boolean): void {
    shared.isSettled = true
    if (!isWorthKeeping) this.#replies.delete(key)
    // If the question is not asked again, the reply is dropped after this time.
    else this.#clock.after(sharedMs, () => this.#forgetOld(), { background: true })
  }

  #forgetOld(): void {
    const oldestMs = this.#clock.now() - sharedMs
    for (const [key, { isSettled, askedAtMs }] of this.#replies) {
      if (isSettled && (askedAtMs <= oldestMs || this.#replies.size > mostReplies)) this.#replies.delete(key)
    }
  }
}
