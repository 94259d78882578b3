/** A member that remembers its index in a {@link SwapList}. */
export interface Placed {
  /** Set only by the list; -1 or undefined while the member is in no list. */
  index: number
}

/**
 * An unordered collection with constant-time removal, for thousands of short-lived members. A `Set` would
 * keep members alive: V8 replaces a set's table every few dozen changes, and links the old table to the new
 * one. Once a table is in the old generation, all later members stay until a full garbage collection.
 */
export class SwapList<T extends Partial<Placed>> {
  readonly #members: T[] = []

  get size(): number {
    return this.#members.length
  }

  add(member: T): void {
    member.index = this.#members.push(member) - 1
  }

  /** Removes a member, which must be in this list or in none. The last member gets its index. */
  remove(member: T): void {
    const { index = -1 } = member
    if (index < 0) return
    member.index = -1
    const last = this.#members.pop()
    if (last === undefined || last === member) return
    this.#members[index] = last
    last.index = index
  }

  [Symbol.iterator](): IterableIterator<T> {
    return this.#members.values()
  }
}
