import { useLayoutEffect, useReducer, useRef } from 'preact/hooks'

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

/**
 * Returns the current value, or the part that `choose` returns. The component renders again when that part changes,
 * as compared by `isSame`.
 */
export function useObservable<Value, Part = Value>(
  observable: Observable<Value>,
  choose: (value: Value) => Part = (value) => value as unknown as Part,
  isSame: (a: Part, b: Part) => boolean = Object.is,
): Part {
  const [, renderAgain] = useReducer((renders: number) => renders + 1, 0)
  const shown = useRef<{ readonly choose: typeof choose; readonly part: Part } | null>(null)
  const next = choose(observable.current)
  const part = shown.current !== null && isSame(shown.current.part, next) ? shown.current.part : next
  shown.current = { choose, part }
  useLayoutEffect(() => {
    const follow = (): void => {
      const { current } = shown
      if (current !== null && !isSame(current.part, current.choose(observable.current)))
        renderAgain(undefined)
    }
    // The value may have changed after the render.
    follow()
    return observable.watch(follow)
  }, [observable])
  return part
}
