/** What of a key's event decides whether it is a shortcut. */
export type KeyPress = Pick<
  KeyboardEvent,
  'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'isComposing' | 'defaultPrevented'
>

/** Where the focus is. */
export type KeyPlace = Pick<HTMLElement, 'tagName' | 'isContentEditable'>

/** A key that begins another: `g` and then `o`. */
const leader = 'g'
/** Between the two. */
const sequenceLimitMs = 1500

const fields: ReadonlySet<string> = new Set(['INPUT', 'TEXTAREA', 'SELECT'])
/** Held down for the key that follows: `$` is Shift and another one on most keyboards. */
const modifiers: ReadonlySet<string> = new Set(['Shift', 'CapsLock', 'AltGraph'])
const pressable: ReadonlySet<string> = new Set([...fields, 'A', 'BUTTON', 'SUMMARY'])
/** What Space presses: a link is none of them. */
const spacePressed: ReadonlySet<string> = new Set(['BUTTON', 'SUMMARY'])

/** The name of a shortcut's key; null where the press is something else's: of a field, or with a key held down. */
export function shortcutKeyOf(press: KeyPress, place: KeyPlace | null): string | null {
  if (press.ctrlKey || press.metaKey || press.altKey || press.isComposing || press.defaultPrevented)
    return null
  if (modifiers.has(press.key)) return null
  if (place !== null && (place.isContentEditable || fields.has(place.tagName))) return null
  // Enter on a link is the link's.
  if (press.key.length > 1 && place !== null && pressable.has(place.tagName)) return null
  if (press.key === ' ' && place !== null && spacePressed.has(place.tagName)) return null
  return press.key
}

/** Joins a leading key with what follows it: `g`, then `o`, is `g o`. */
export class KeySequence {
  #sinceMs: number | null = null

  /** The shortcut that is complete with this key, by its name; null while one has only begun. */
  next(key: string, nowMs: number): string | null {
    const isLed = this.#sinceMs !== null && nowMs - this.#sinceMs <= sequenceLimitMs
    this.#sinceMs = null
    if (isLed) return `${leader} ${key}`
    if (key !== leader) return key
    this.#sinceMs = nowMs
    return null
  }
}

/** Whether it is made of characters alone, and can be switched off (WCAG 2.2, 2.1.4). */
export function isOfCharacters(shortcut: string): boolean {
  return shortcut.split(' ').every((key) => key.length === 1)
}
