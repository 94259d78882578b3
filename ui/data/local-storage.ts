import { Observable } from './observable.ts'

/**
 * Something that this reader chose, kept in this browser alone; what a link shows to others never depends on it. `parse`
 * gets null if nothing is kept; `write` answers null for what need not be.
 */
export function localValue<Value>(
  name: string,
  parse: (text: string | null) => Value,
  write: (value: Value) => string | null,
): Observable<Value> {
  const key = `tokenweir.${name}`
  const read = (): Value => {
    try {
      return parse(localStorage.getItem(key))
    } catch {
      return parse(null)
    }
  }
  const chosen = new Observable(read())
  chosen.watch((value) => {
    try {
      const text = write(value)
      if (text === null) localStorage.removeItem(key)
      else localStorage.setItem(key, text)
    } catch {
      // If nothing may be kept, it holds until the page is left.
    }
  })
  // Another tab has chosen.
  addEventListener('storage', (event) => {
    if (event.key === key || event.key === null) chosen.set(read())
  })
  return chosen
}

/** One of some choices; `otherwise` holds while nothing else was chosen, and is not kept. */
export function localChoice<Choice extends string>(
  name: string,
  choices: readonly Choice[],
  otherwise: Choice,
): Observable<Choice> {
  return localValue(
    name,
    (text) => choices.find((choice) => choice === text) ?? otherwise,
    (choice) => (choice === otherwise ? null : choice),
  )
}
