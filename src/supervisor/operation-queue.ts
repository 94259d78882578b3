/** An operation that was asked for, and whether somebody else had asked for the same before it was over. */
export interface QueuedOperation<T> {
  readonly outcome: Promise<T>
  readonly isShared: boolean
}

/** Lets operations run one after the other, in the order in which they were asked for. */
export class OperationQueue {
  #end: Promise<unknown> = Promise.resolve()
  #last: { readonly key: string; readonly outcome: Promise<unknown> } | null = null

  /**
   * If the last operation in the queue has the same key and is not over, it serves this one as well. One
   * key stands for one type of outcome.
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
