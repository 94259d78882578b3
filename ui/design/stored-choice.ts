import { useEffect, useState } from 'preact/hooks'

/** A choice of this reader's, kept in this browser alone; what a link shows to others never depends on one. */
export class StoredChoice<Choice extends string> {
  readonly #name: string
  readonly #choices: readonly Choice[]
  readonly #otherwise: Choice
  readonly #listeners = new Set<(choice: Choice) => void>()
  #current: Choice

  /** `otherwise` is what holds while nothing else was chosen, and is not kept. */
  constructor(name: string, choices: readonly Choice[], otherwise: Choice) {
    this.#name = `tokenweir.${name}`
    this.#choices = choices
    this.#otherwise = otherwise
    this.#current = this.#read()
    // Another tab has chosen.
    addEventListener('storage', ({ key }) => {
      if (key === this.#name || key === null) this.#become(this.#read())
    })
  }

  get current(): Choice {
    return this.#current
  }

  set(choice: Choice): void {
    try {
      if (choice === this.#otherwise) localStorage.removeItem(this.#name)
      else localStorage.setItem(this.#name, choice)
    } catch {
      // If nothing may be kept, it holds until the page is left.
    }
    this.#become(choice)
  }

  /** Calls back when it changes, until the function that it answers is called. */
  watch(listener: (choice: Choice) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #become(choice: Choice): void {
    if (choice === this.#current) return
    this.#current = choice
    for (const listener of this.#listeners) listener(choice)
  }

  #read(): Choice {
    try {
      const kept = localStorage.getItem(this.#name)
      return this.#choices.find((choice) => choice === kept) ?? this.#otherwise
    } catch {
      return this.#otherwise
    }
  }
}

/** A kept choice as it is now. */
export function useStoredChoice<Choice extends string>(stored: StoredChoice<Choice>): Choice {
  const [choice, setChoice] = useState(stored.current)
  useEffect(() => stored.watch(setChoice), [stored])
  return choice
}
