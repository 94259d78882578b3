import { localChoice } from '../data/local-storage.ts'

/** `auto` follows the system. */
export type Theme = 'auto' | 'light' | 'dark'

/** The choice in this browser. `theme-at-load.js` reads it under the same name, before the first paint. */
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
