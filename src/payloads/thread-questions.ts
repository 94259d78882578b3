import type { PayloadThread } from './payload-thread.ts'

interface Question {
  readonly resolve: (answer: Uint8Array) => void
  readonly reject: (error: Error) => void
}

/** What the thread was asked and has not answered. */
export class ThreadQuestions {
  readonly #thread: PayloadThread
  readonly #open = new Map<number, Question>()
  #last = 0

  constructor(thread: PayloadThread) {
    this.#thread = thread
  }

  /** Rejects with `troubleBefore` where there is no thread to be asked. */
  ask(post: (question: number) => void, troubleBefore: string): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      if (!this.#thread.isRunning) {
        reject(new Error(troubleBefore))
        return
      }
      const question = ++this.#last
      this.#open.set(question, { resolve, reject })
      // Somebody waits: that is worth staying alive for.
      this.#thread.stay(true)
      post(question)
    })
  }

  answered(question: number, answer: Uint8Array, trouble: string | null): void {
    const asked = this.#open.get(question)
    this.#open.delete(question)
    if (this.#open.size === 0) this.#thread.stay(false)
    if (trouble === null) asked?.resolve(answer)
    else asked?.reject(new Error(trouble))
  }

  /** Nobody will answer. */
  rejectAll(trouble: string): void {
    for (const { reject } of this.#open.values()) reject(new Error(trouble))
    this.#open.clear()
    this.#thread.stay(false)
  }
}
