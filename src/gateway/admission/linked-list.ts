/** A value's place in a {@link LinkedList}: hand it back to `remove` to leave from the middle. */
export class Place<T> {
  readonly value: T
  before: Place<T> | null = null
  after: Place<T> | null = null
  /** The list that it stands in; `null` once it has left. */
  list: LinkedList<T> | null

  constructor(value: T, list: LinkedList<T>) {
    this.value = value
    this.list = list
  }
}

/** First in, first out, with removal from anywhere. Every operation takes constant time, but for `clear`. */
export class LinkedList<T> {
  #first: Place<T> | null = null
  #last: Place<T> | null = null
  #size = 0

  get size(): number {
    return this.#size
  }

  get first(): Place<T> | null {
    return this.#first
  }

  push(value: T): Place<T> {
    const place = new Place(value, this)
    place.before = this.#last
    if (this.#last === null) this.#first = place
    else this.#last.after = place
    this.#last = place
    this.#size += 1
    return place
  }

  /** Says whether the place was still in this list. */
  remove(place: Place<T>): boolean {
    if (place.list !== this) return false
    if (place.before === null) this.#first = place.after
    else place.before.after = place.after
    if (place.after === null) this.#last = place.before
    else place.after.before = place.before
    place.list = null
    place.before = null
    place.after = null
    this.#size -= 1
    return true
  }

  shift(): Place<T> | null {
    const place = this.#first
    if (place !== null) this.remove(place)
    return place
  }

  clear(): void {
    while (this.#first !== null) this.remove(this.#first)
  }
}
