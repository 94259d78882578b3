/** The facts that decide a waiting call's place. */
export interface WaitingSince {
  /** Rises with each call that waits. */
  readonly seq: number
  /** A call that comes back waits since before it came, by the time in which it had its slot. */
  readonly sinceMs: number
}

/** Negative if the first one waits since longer. */
export function compareAge(one: WaitingSince, other: WaitingSince): number {
  // Both may be infinite.
  if (one.sinceMs !== other.sinceMs) return one.sinceMs < other.sinceMs ? -1 : 1
  return one.seq - other.seq
}

/** Calls that come back, those that wait since longer first: few, so that each finds its place by walking. */
export class SortedLine<T extends WaitingSince> {
  readonly #calls: T[] = []

  get size(): number {
    return this.#calls.length
  }

  get head(): T | undefined {
    return this.#calls[0]
  }

  push(one: T): void {
    const before = this.#calls.findLastIndex((each) => compareAge(each, one) < 0)
    this.#calls.splice(before + 1, 0, one)
  }

  delete(one: T): boolean {
    const at = this.#calls.indexOf(one)
    if (at >= 0) this.#calls.splice(at, 1)
    return at >= 0
  }

  shift(): T | undefined {
    return this.#calls.shift()
  }

  values(): ArrayIterator<T> {
    return this.#calls.values()
  }

  [Symbol.iterator](): ArrayIterator<T> {
    return this.values()
  }
}

/** First in, first out, with removal from anywhere. */
export class WaitingLine<T extends object> extends Set<T> {
  #next: SetIterator<T> = this.values()
  /** The first, once it has been looked for. */
  #head: T | undefined

  push(one: T): void {
    this.add(one)
  }

  override delete(one: T): boolean {
    if (one === this.#head) this.#head = undefined
    return super.delete(one)
  }

  override clear(): void {
    this.#head = undefined
    super.clear()
  }

  /**
   * An iterator of its own goes on with what is added later, and passes over what has left: to begin anew would be
   * to walk over the holes that all who went before have left in the set.
   */
  get head(): T | undefined {
    if (this.#head !== undefined || this.size === 0) return this.#head
    let { value } = this.#next.next()
    if (value === undefined) {
      // Once at its end, an iterator stays there.
      this.#next = this.values()
      value = this.#next.next().value
    }
    this.#head = value
    return value
  }

  shift(): T | undefined {
    const { head } = this
    if (head !== undefined) this.delete(head)
    return head
  }
}
