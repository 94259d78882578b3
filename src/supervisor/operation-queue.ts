/** A requested operation, and whether it joined an equal one that had not ended. */
export interface QueuedOperation<T> {
  readonly outcome: Promise<T>
  readonly isShared: boolean
}

/** Runs operations one after the other, in the order of their requests. */
export class OperationQueue {
  #end: Promise<unknown> = Promise.resolve()
  #last: { readonly key: string; readonly outcome: Promise<unknown> } | null = null

  /**
   * Joins the last operation in the queue if it has the same key and has not ended. All operations of
   * a key resolve with the same type.
   */
  run<T>(key: string, operation: () => Promise<T>): QueuedOperation<T> {
    if (this.#last?.key === key) return { outcome: this.#last.outcome as Promise<T>, isShared: true }
    const outcome = this.#end.then(operation)
    const last = { key, outcome }
    const leave = (): void => {
      if (this.#last === last) this.#last = null
    }
    this.#last = last
    this.#end = outcome.then(leave, leave)
    return { outcome, isShared: false }
  }
}
