import { useEffect, useState } from 'preact/hooks'

/** Something that this reader chose, kept in this browser alone; what a link shows to others never depends on it. */
export class Stored<Value> {
  readonly #name: string
  readonly #parse: (text: string | null) => Value
  readonly #write: (value: Value) => string | null
  readonly #listeners = new Set<(value: Value) => void>()
  #current: Value

  /** `parse` gets null if nothing is kept; `write` answers null for what need not be. */
  constructor(name: string, parse: (text: string | null) => Value, write: (value: Value) => string | null) {
    this.#name = `tokenweir.${name}`
    this.#parse = parse
    this.#write = write
    this.#current = this.#read()
    // Another tab has chosen.
    addEventListener('storage', ({ key }) => {
      if (key === this.#name || key === null) this.#become(this.#read())
    })
  }

  get current(): Value {
    return this.#current
  }

  set(value: Value): void {
    try {
      const text = this.#write(value)
      if (text === null) localStorage.removeItem(this.#name)
      else localStorage.setItem(this.#name, text)
    } catch {
      // If nothing may be kept, it holds until the page is left.
    }
    this.#become(value)
  }

  /** Calls back when it changes, until the function that it answers is called. */
  watch(listener: (value: Value) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #become(value: Value): void {
    if (value === this.#current) return
    this.#current = value
    for (const listener of this.#listeners) listener(value)
  }

  #read(): Value {
    try {
      return this.#parse(localStorage.getItem(this.#name))
    } catch {
      return this.#parse(null)
    }
  }
}

/** One of some choices; `otherwise` holds while nothing else was chosen, and is not kept. */
export function storedChoice<Choice extends string>(
  name: string,
  choices: readonly Choice[],
  otherwise: Choice,
): Stored<Choice> {
  return new Stored(
    name,
    (text) => choices.find((choice) => choice === text) ?? otherwise,
    (choice) => (choice === otherwise ? null : choice),
  )
}

/** What is kept, as it is now. */
export function useStored<Value>(stored: Stored<Value>): Value {
  const [value, setValue] = useState(stored.current)
  useEffect(() => stored.watch((next) => setValue(() => next)), [stored])
  return value
}
