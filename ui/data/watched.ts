import { useEffect, useState } from 'preact/hooks'

/** A value of the whole page, and who is told when it is another one. */
export class Watched<Value> {
  #current: Value
  readonly #listeners = new Set<(value: Value) => void>()

  constructor(first: Value) {
    this.#current = first
  }

  get current(): Value {
    return this.#current
  }

  set(next: Value): void {
    if (next === this.#current) return
    this.#current = next
    for (const listener of this.#listeners) listener(next)
  }

  /** Calls back when it changes, until the function that it answers is called. */
  watch(listener: (value: Value) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}

/** The value as it is now. */
export function useWatched<Value>(watched: Watched<Value>): Value {
  const [value, setValue] = useState(watched.current)
  useEffect(() => {
    const follow = (next: Value): void => setValue(() => next)
    // It may have changed since it was drawn.
    follow(watched.current)
    return watched.watch(follow)
  }, [watched])
  return value
}
