import { createContext, type ComponentChildren, type JSX } from 'preact'
import { useContext, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { StoredChoice } from './stored-choice.ts'
import { useStoredChoice } from './use-stored-choice.ts'
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

/** The shortcuts that work at this moment. */
export interface Keys {
  /** Adds a group, until the function that it answers is called. */
  readonly add: (group: Group) => () => void
  /** Groups with the same title told as one; later ones win where they take the same key. */
  readonly list: () => readonly { readonly title: string; readonly shortcuts: readonly Shortcut[] }[]
  readonly areOn: boolean
  readonly setOn: (on: boolean) => void
}

const KeysContext = createContext<Keys | null>(null)

export interface KeysProviderProps {
  /** Whether keys of characters alone do anything (WCAG 2.2, 2.1.4). */
  readonly choice: StoredChoice<'on' | 'off'>
  readonly children: ComponentChildren
}

/** Listens for keys on behalf of all that is inside. */
export function KeysProvider({ choice, children }: KeysProviderProps): JSX.Element {
  const [onOrOff, choose] = useStoredChoice(choice)
  const areOn = onOrOff === 'on'
  const [groups] = useState(() => new Set<Group>())
  const [sequence] = useState(() => new KeySequence())
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const key = shortcutKeyOf(event, event.target instanceof HTMLElement ? event.target : null)
      const name = key === null ? null : sequence.next(key, event.timeStamp)
      if (name === null || (choice.current === 'off' && isOfCharacters(name))) return
      const isBehindDialog = document.querySelector('dialog:modal') !== null
      const found = [...groups]
        .filter(({ isInDialog }) => isInDialog || !isBehindDialog)
        .flatMap(({ shortcuts }) => shortcuts())
        .findLast((shortcut) => shortcut.key === name)
      if (found === undefined) return
      event.preventDefault()
      found.run()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [choice, groups, sequence])
  const keys = useMemo<Keys>(
    () => ({
      add: (group) => {
        groups.add(group)
        return () => void groups.delete(group)
      },
      list: () =>
        [...Map.groupBy(groups, ({ title }) => title)].map(([title, same]) => ({
          title,
          shortcuts: same.flatMap(({ shortcuts }) => shortcuts()),
        })),
      areOn,
      setOn: (on) => choose(on ? 'on' : 'off'),
    }),
    [areOn, choose, groups],
  )
  return <KeysContext.Provider value={keys}>{children}</KeysContext.Provider>
}

/** The shortcuts that work at this moment. */
export function useKeysInUse(): Keys {
  const keys = useContext(KeysContext)
  if (keys === null) throw new Error('keys are for what is inside KeysProvider')
  return keys
}

export interface ShortcutOptions {
  /** Whether they work while a modal dialog is open: those of the dialog itself. */
  readonly isInDialog?: boolean
}

/**
 * Adds shortcuts for as long as the component is there: `useShortcuts('Calls', [{ key: 'j', words: 'Next call',
 * run }])`. They are listed under the title when `?` is pressed. None fires in a field, or with Ctrl, Meta or Alt.
 */
export function useShortcuts(
  title: string,
  shortcuts: readonly Shortcut[],
  { isInDialog = false }: ShortcutOptions = {},
): void {
  const { add } = useKeysInUse()
  const current = useRef(shortcuts)
  current.current = shortcuts
  useLayoutEffect(
    () => add({ title, isInDialog, shortcuts: () => current.current }),
    [add, title, isInDialog],
  )
}
