import { Observable } from './observable.ts'

/**
 * Returns a value that is saved only in this browser, so links never depend on it. `parse` gets null if nothing is
 * saved. `write` returns null for a value that need not be saved.
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
      // Without storage, the choice lasts until the page is closed.
    }
  })
  // Another tab has changed the choice.
  addEventListener('storage', (event) => {
    if (event.key === key || event.key === null) chosen.set(read())
  })
  return chosen
}

/** Returns a choice of several values. `otherwise` is the default, which is not saved. */
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
