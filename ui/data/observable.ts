import { useEffect, useState } from 'preact/hooks'

/** A value with listeners that are called when it changes. */
export class Observable<Value> {
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

  /** Calls back on each change, until the returned function is called. */
  watch(listener: (value: Value) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}

/** The current value; renders again when it changes. */
export function useObservable<Value>(observable: Observable<Value>): Value {
  const [value, setValue] = useState(observable.current)
  useEffect(() => {
    const follow = (next: Value): void => setValue(() => next)
    // The value may have changed since the render.
    follow(observable.current)
    return observable.watch(follow)
  }, [observable])
  return value
}
