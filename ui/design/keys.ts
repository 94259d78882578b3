import { useLayoutEffect, useRef } from 'preact/hooks'
import { KeySequence, isOfCharacters, shortcutKeyOf } from './key-press.ts'

/** What a key does. */
export interface Shortcut {
  /** As `KeyboardEvent.key` names it: `m`, `Enter`; or `g o` for one after the other. */
  readonly key: string
  /** For the list of keys: what it does, as a button would say it. */
  readonly words: string
  readonly run: () => void
}

interface Group {
  readonly title: string
  readonly isInDialog: boolean
  /** Asked when a key is pressed, so that it does what the component would do now. */
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
    const isBehindDialog = document.querySelector('dialog:modal') !== null
    const found = [...groups]
      .filter(({ isInDialog }) => isInDialog || !isBehindDialog)
      .flatMap(({ shortcuts }) => shortcuts())
      .findLast((shortcut) => shortcut.key === name)
    if (found === undefined) return
    event.preventDefault()
    found.run()
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

export interface ShortcutOptions {
  /** Whether they work while a modal dialog is open: those of the dialog itself. */
  readonly isInDialog?: boolean
}

/**
 * Adds shortcuts for as long as the component is there: `useShortcuts('Calls', [{ key: 'j', words: 'Next call',
 * run }])`. They are listed under the title when `?` is pressed; the last component that takes a key has it. None
 * fires in a field, or with Ctrl, Meta or Alt.
 */
export function useShortcuts(
  title: string,
  shortcuts: readonly Shortcut[],
  { isInDialog = false }: ShortcutOptions = {},
): void {
  const current = useRef(shortcuts)
  current.current = shortcuts
  useLayoutEffect(() => {
    const group = { title, isInDialog, shortcuts: () => current.current }
    groups.add(group)
    return () => void groups.delete(group)
  }, [title, isInDialog])
}
