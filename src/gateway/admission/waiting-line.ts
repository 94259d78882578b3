/** The facts that order waiting calls. */
export interface WaitingSince {
  /** The number of the waiting call; rises with each. */
  readonly seq: number
  /** When the wait began; for a call that comes back, earlier by the time for which it had its slot. */
  readonly sinceMs: number
}

/** Negative if `first` has waited longer. */
export function compareAge(first: WaitingSince, second: WaitingSince): number {
  // Both may be infinite, so they are compared, not subtracted.
  if (first.sinceMs !== second.sinceMs) return first.sinceMs < second.sinceMs ? -1 : 1
  return first.seq - second.seq
}

/** Calls that come back, the longest wait first. Insertion is linear, because these calls are few. */
export class SortedLine<T extends WaitingSince> {
  readonly #calls: T[] = []

  get size(): number {
    return this.#calls.length
  }

  get head(): T | undefined {
    return this.#calls[0]
  }

  push(call: T): void {
    const before = this.#calls.findLastIndex((earlier) => compareAge(earlier, call) < 0)
    this.#calls.splice(before + 1, 0, call)
  }

  delete(call: T): boolean {
    const at = this.#calls.indexOf(call)
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

/** A first-in, first-out queue with removal of any member. */
export class WaitingLine<T extends object> extends Set<T> {
  #next: SetIterator<T> = this.values()
  /** The first member, if it is known. */
  #head: T | undefined

  push(call: T): void {
    this.add(call)
  }

  override delete(call: T): boolean {
    if (call === this.#head) this.#head = undefined
    return super.delete(call)
  }

  override clear(): void {
    this.#head = undefined
    super.clear()
  }

  /**
   * The first member. The iterator is kept, because a new one would walk over the holes of all removed members.
   * Members that are added later are found, too.
   */
  get head(): T | undefined {
    if (this.#head !== undefined || this.size === 0) return this.#head
    let { value } = this.#next.next()
    if (value === undefined) {
      // An iterator that has reached the end finds no later members, so a new one is needed.
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
