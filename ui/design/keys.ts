import { useLayoutEffect, useRef } from 'preact/hooks'

/** A key and its action. */
export interface Shortcut {
  /** A value of `KeyboardEvent.key`, such as `m` or `Enter`, or two keys in a row: `g o`. */
  readonly key: string
  /** The text in the list of keys. */
  readonly words: string
  readonly run: () => void
}

interface Group {
  readonly title: string
  /** True for the shortcuts of a modal dialog, which work while it is open. */
  readonly isInDialog: boolean
  /** Called at each key press, so that the shortcuts of the last render apply. */
  readonly shortcuts: () => readonly Shortcut[]
}

/** The shortcuts of all rendered components. */
const groups = new Set<Group>()

/** Starts to listen for keys. While `areOn` returns false, keys of characters alone do nothing (WCAG 2.2, 2.1.4). */
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

/** Returns the current shortcuts by their titles. */
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
 * Adds shortcuts while the component is rendered: `useShortcuts('Calls', [{ key: 'j', words: 'Next call', run }])`.
 * The list of keys, opened by `?`, shows them under the title. If several components use a key, the last one gets
 * it. Only `commandK` works in a field, or with Ctrl, Meta or Alt.
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

/** The properties of a key event that decide its shortcut. */
export type KeyPress = Pick<
  KeyboardEvent,
  'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'isComposing' | 'defaultPrevented'
>

/** The element with the focus. */
export type KeyPlace = Pick<HTMLElement, 'tagName' | 'isContentEditable'>

/** The key that begins a sequence, such as `g` and then `o`. */
const leader = 'g'
/** The most time between the two keys of a sequence. */
const sequenceLimitMs = 1500

/** Ctrl or the command key with K, which also works in a field. */
export const commandK = 'Ctrl+k'

const fields: ReadonlySet<string> = new Set(['INPUT', 'TEXTAREA', 'SELECT'])
/** Keys that are held down for the next key: most keyboards need Shift for `$`. */
const modifiers: ReadonlySet<string> = new Set(['Shift', 'CapsLock', 'AltGraph'])
const pressable: ReadonlySet<string> = new Set([...fields, 'A', 'BUTTON', 'SUMMARY'])
/** Elements that Space presses. Links are not among them. */
const spacePressed: ReadonlySet<string> = new Set(['BUTTON', 'SUMMARY'])

/** Returns the name of a shortcut's key; null if the press belongs to a field, or has a modifier key. */
export function shortcutKeyOf(press: KeyPress, place: KeyPlace | null): string | null {
  if (press.altKey || press.isComposing || press.defaultPrevented) return null
  if (press.ctrlKey || press.metaKey) return press.key.toLowerCase() === 'k' ? commandK : null
  if (modifiers.has(press.key)) return null
  if (place !== null && (place.isContentEditable || fields.has(place.tagName))) return null
  // Enter belongs to a focused link or button; Escape belongs to none of them.
  if (press.key.length > 1 && press.key !== 'Escape' && place !== null && pressable.has(place.tagName))
    return null
  if (press.key === ' ' && place !== null && spacePressed.has(place.tagName)) return null
  return press.key
}

/** Joins a leading key with the next key: `g`, then `o`, is `g o`. */
export class KeySequence {
  #sinceMs: number | null = null

  /** Returns the name of the shortcut that this key completes; null after a leading key. */
  next(key: string, nowMs: number): string | null {
    const isLed = this.#sinceMs !== null && nowMs - this.#sinceMs <= sequenceLimitMs
    this.#sinceMs = null
    if (isLed) return `${leader} ${key}`
    if (key !== leader) return key
    this.#sinceMs = nowMs
    return null
  }
}

/** True if a shortcut has only character keys, which users can switch off (WCAG 2.2, 2.1.4). */
export function isOfCharacters(shortcut: string): boolean {
  return shortcut.split(' ').every((key) => key.length === 1)
}
