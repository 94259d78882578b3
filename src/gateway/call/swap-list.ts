/** Something that remembers its place in a {@link SwapList}. */
export interface Placed {
  /** Written by the list alone. */
  place: number
}

/**
 * An unordered collection with constant-time removal, for members that come and go by the thousand. A `Set`
 * would do, but that V8 replaces a set's table every few dozen changes and leaves the old one linked to the
 * new: once one of them is in the old generation, all members since stay alive until a full collection.
 */
export class SwapList<T extends Placed> {
  readonly #members: T[] = []

  get size(): number {
    return this.#members.length
  }

  add(member: T): void {
    member.place = this.#members.push(member) - 1
  }

  /** The last member takes the place of the removed one, which must be in this list. */
  remove(member: T): void {
    const last = this.#members.pop()
    if (last === undefined || last === member) return
    this.#members[member.place] = last
    last.place = member.place
  }

  [Symbol.iterator](): IterableIterator<T> {
    return this.#members.values()
  }
}
