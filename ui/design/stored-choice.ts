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
  }

  get current(): Choice {
    return this.#current
  }

  set(choice: Choice): void {
    try {
      if (choice === this.#otherwise) localStorage.removeItem(this.#name)
      else localStorage.setItem(this.#name, choice)
    } catch {
      // Where nothing may be kept, it holds until the page is left.
    }
    this.#become(choice)
  }

  /** Calls back when it changes, also in another tab, until the function that it answers is called. */
  watch(listener: (choice: Choice) => void): () => void {
    addEventListener('storage', this.#follow)
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) removeEventListener('storage', this.#follow)
    }
  }

  readonly #follow = ({ key }: StorageEvent): void => {
    if (key === this.#name || key === null) this.#become(this.#read())
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
