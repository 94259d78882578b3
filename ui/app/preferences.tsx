import { createContext, type ComponentChildren, type JSX } from 'preact'
import { useContext, useLayoutEffect } from 'preact/hooks'
import { StoredChoice } from '../design/stored-choice.ts'

/** `auto` is what the reader's system has. */
export type Theme = 'auto' | 'light' | 'dark'

/** What a reader has chosen for all of the page, kept in this browser. */
export interface Preferences {
  readonly theme: StoredChoice<Theme>
  /** Whether keys of characters alone do anything. */
  readonly keys: StoredChoice<'on' | 'off'>
}

/** Reads what was kept. `theme-at-load.js` reads the theme by the same name, before anything is painted. */
export function keptPreferences(): Preferences {
  return {
    theme: new StoredChoice<Theme>('theme', ['auto', 'light', 'dark'], 'auto'),
    keys: new StoredChoice('keys', ['on', 'off'], 'on'),
  }
}

const PreferencesContext = createContext<Preferences | null>(null)

export interface PreferencesProviderProps {
  readonly preferences: Preferences
  readonly children: ComponentChildren
}

/** Gives them to what is inside, and shows the page in the theme. */
export function PreferencesProvider({ preferences, children }: PreferencesProviderProps): JSX.Element {
  useLayoutEffect(() => {
    showTheme(preferences.theme.current)
    return preferences.theme.watch(showTheme)
  }, [preferences])
  return <PreferencesContext.Provider value={preferences}>{children}</PreferencesContext.Provider>
}

function showTheme(theme: Theme): void {
  const { dataset } = document.documentElement
  if (theme === 'auto') delete dataset['theme']
  else dataset['theme'] = theme
}

/** What the reader has chosen. */
export function usePreferences(): Preferences {
  const preferences = useContext(PreferencesContext)
  if (preferences === null) throw new Error('preferences are for what is inside PreferencesProvider')
  return preferences
}
