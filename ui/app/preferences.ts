import { localChoice } from '../data/local-storage.ts'

/** A theme; `auto` follows the system. */
export type Theme = 'auto' | 'light' | 'dark'

/** The theme chosen in this browser. `theme-at-load.js` reads the same key before the first paint. */
export const storedTheme = localChoice<Theme>('theme', ['auto', 'light', 'dark'], 'auto')

/** The setting of single-character shortcuts: on or off. */
export const keptKeys = localChoice('keys', ['on', 'off'], 'on')

/** Applies the chosen theme to the page, also when another tab changes it. */
export function followTheme(): void {
  const show = (theme: Theme): void => {
    const { dataset } = document.documentElement
    if (theme === 'auto') delete dataset['theme']
    else dataset['theme'] = theme
  }
  show(storedTheme.current)
  storedTheme.watch(show)
}
