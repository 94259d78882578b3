import { localChoice } from '../data/local-storage.ts'

/** `auto` is what the reader's system has. */
export type Theme = 'auto' | 'light' | 'dark'

/** Kept in this browser. `theme-at-load.js` reads it by the same name, before anything is painted. */
export const storedTheme = localChoice<Theme>('theme', ['auto', 'light', 'dark'], 'auto')

/** Shortcuts of single characters: on or off. */
export const keptKeys = localChoice('keys', ['on', 'off'], 'on')

/** Shows the page in the theme that is chosen, also in another tab. */
export function followTheme(): void {
  const show = (theme: Theme): void => {
    const { dataset } = document.documentElement
    if (theme === 'auto') delete dataset['theme']
    else dataset['theme'] = theme
  }
  show(storedTheme.current)
  storedTheme.watch(show)
}
