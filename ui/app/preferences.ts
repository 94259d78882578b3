import { storedChoice } from '../data/stored.ts'

/** `auto` is what the reader's system has. */
export type Theme = 'auto' | 'light' | 'dark'

/** Kept in this browser. `theme-at-load.js` reads it by the same name, before anything is painted. */
export const keptTheme = storedChoice<Theme>('theme', ['auto', 'light', 'dark'], 'auto')

/** Whether keys of characters alone do anything. */
export const keptKeys = storedChoice('keys', ['on', 'off'], 'on')

/** Shows the page in the theme that is chosen, also in another tab. */
export function followTheme(): void {
  const show = (theme: Theme): void => {
    const { dataset } = document.documentElement
    if (theme === 'auto') delete dataset['theme']
    else dataset['theme'] = theme
  }
  show(keptTheme.current)
  keptTheme.watch(show)
}
