import { useLayoutEffect, useRef } from 'preact/hooks'

/** A key and its action. */
export interface Shortcut {
  /** A name of `KeyboardEvent.key`: `m`, `Enter`; or two in a row: `g o`. */
  readonly key: string
  /** The text in the list of keys, as on a button. */
  readonly words: string
  readonly run: () => void
}

interface Group {
  readonly title: string
  /** Shortcuts of a modal dialog, which work while it is open. */
  readonly isInDialog: boolean
  /** Called at each key press, so that the shortcuts are those of the latest render. */
  readonly shortcuts: () => readonly Shortcut[]
}

/** The shortcuts that work at this moment: of the components that are there. */
const groups = new Set<Group>()

/** Listens for keys from now on. While `areOn` answers false, keys of characters alone do nothing (WCAG 2.2, 2.1.4). */
export function followKeys(areOn: () => boolean): void {
  const sequence = new KeySequence()
  addEventListener('keydown', (event) => {
    const key = shortcutKeyOf(event, event.target instanceof HTMLElement ? event.target : null)
    const name = key === null ? null : sequence.next(key, event.timeStamp)
    if (name === null || (!areOn() && isOfCharacters(name))) return
    // Escape closes a menu first.
    if (name === 'Escape' && document.querySelector('[popover=auto]:popover-open') !== null) return
    const isBehindDialog = document.querySelector('dialog:modal') !== null
    const shortcut = [...groups]
      .filter(({ isInDialog }) => isInDialog || !isBehindDialog)
      .flatMap(({ shortcuts }) => shortcuts())
      .findLast((shortcut) => shortcut.key === name)
    if (shortcut === undefined) return
    event.preventDefault()
    shortcut.run()
  })
}

/** The shortcuts that work at this moment, under their titles. */
export function shortcutsInUse(): readonly {
  readonly title: string
  readonly shortcuts: readonly Shortcut[]
}[] {
  return [...Map.groupBy(groups, ({ title }) => title)].map(([title, same]) => ({
    title,
    shortcuts: same.flatMap(({ shortcuts }) => shortcuts()),
  }))
}

/**
 * Adds shortcuts for as long as the component is there: `useShortcuts('Calls', [{ key: 'j', words: 'Next call',
 * run }])`. They are listed under the title when `?` is pressed; the last component that takes a key has it. None
 * but `commandK` fires in a field, or with Ctrl, Meta or Alt.
 */
export function useShortcuts(title: string, shortcuts: readonly Shortcut[], isInDialog = false): void {
  const current = useRef(shortcuts)
  current.current = shortcuts
  useLayoutEffect(() => {
    const group = { title, isInDialog, shortcuts: () => current.current }
    groups.add(group)
    return () => void groups.delete(group)
  }, [title, isInDialog])
}

/** The properties of a key's event that make it a shortcut. */
export type KeyPress = Pick<
  KeyboardEvent,
  'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'isComposing' | 'defaultPrevented'
>

/** The element with the focus. */
export type KeyPlace = Pick<HTMLElement, 'tagName' | 'isContentEditable'>

/** A key that begins another: `g` and then `o`. */
const leader = 'g'
/** Between the two. */
const sequenceLimitMs = 1500

/** With Ctrl or the command key, also from within a field. */
export const commandK = 'Ctrl+k'

const fields: ReadonlySet<string> = new Set(['INPUT', 'TEXTAREA', 'SELECT'])
/** Held down for the key that follows: `$` is Shift and another one on most keyboards. */
const modifiers: ReadonlySet<string> = new Set(['Shift', 'CapsLock', 'AltGraph'])
const pressable: ReadonlySet<string> = new Set([...fields, 'A', 'BUTTON', 'SUMMARY'])
/** Elements that Space presses; links are not among them. */
const spacePressed: ReadonlySet<string> = new Set(['BUTTON', 'SUMMARY'])

/** The name of a shortcut's key; null if the press belongs to a field, or has a modifier key. */
export function shortcutKeyOf(press: KeyPress, place: KeyPlace | null): string | null {
  if (press.altKey || press.isComposing || press.defaultPrevented) return null
  if (press.ctrlKey || press.metaKey) return press.key.toLowerCase() === 'k' ? commandK : null
  if (modifiers.has(press.key)) return null
  if (place !== null && (place.isContentEditable || fields.has(place.tagName))) return null
  // Enter on a link is the link's. Escape is of none that can be pressed.
  if (press.key.length > 1 && press.key !== 'Escape' && place !== null && pressable.has(place.tagName))
    return null
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

/** True if it is made of characters alone, and can be switched off (WCAG 2.2, 2.1.4). */
export function isOfCharacters(shortcut: string): boolean {
  return shortcut.split(' ').every((key) => key.length === 1)
}
