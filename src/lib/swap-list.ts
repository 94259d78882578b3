/** Something that remembers its place in a {@link SwapList}. */
export interface Placed {
  /** Written by the list alone; -1, or nothing, while it is in none. */
  place: number
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
    member.place = this.#members.push(member) - 1
  }

  /** The last member takes the place of the removed one, which must be in this list or in none. */
  remove(member: T): void {
    const { place = -1 } = member
    if (place < 0) return
    member.place = -1
    const last = this.#members.pop()
    if (last === undefined || last === member) return
    this.#members[place] = last
    last.place = place
  }

  [Symbol.iterator](): IterableIterator<T> {
    return this.#members.values()
  }
}
