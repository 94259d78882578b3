/** A member that remembers its index in a {@link SwapList}. */
export interface Placed {
  /** Written by the list alone; -1 or undefined while the member is in no list. */
  index: number
}

/**
 * An unordered collection with constant-time removal, for members that come and go by the thousand. A `Set`
 * would do, but that V8 replaces a set's table every few dozen changes and leaves the old one linked to the
 * new: once one of them is in the old generation, all members since stay alive until a full collection.
 */
export class SwapList<T extends Partial<Placed>> {
  readonly #members: T[] = []

  get size(): number {
    return this.#members.length
  }

  add(member: T): void {
    member.index = this.#members.push(member) - 1
  }

  /** The last member takes the index of the removed one, which must be in this list or in none. */
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
