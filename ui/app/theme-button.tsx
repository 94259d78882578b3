import type { JSX } from 'preact'
import { Button } from '../design/button.tsx'
import type { IconName } from '../design/icon.tsx'
import { useShortcuts } from '../design/keys.ts'
import { useWatched } from '../data/watched.ts'
import { type Theme, keptTheme } from './preferences.ts'

interface Look {
  readonly icon: IconName
  readonly words: string
  readonly next: Theme
}

const looks: Readonly<Record<Theme, Look>> = {
  auto: { icon: 'auto', words: 'as the system', next: 'light' },
  light: { icon: 'sun', words: 'light', next: 'dark' },
  dark: { icon: 'moon', words: 'dark', next: 'auto' },
}

/** Goes from theme to theme. */
export function ThemeButton(): JSX.Element {
  const { icon, words, next } = looks[useWatched(keptTheme)]
  const turn = (): void => keptTheme.set(next)
  useShortcuts('Page', [{ key: 't', words: 'Next theme', run: turn }])
  return (
    <Button kind="bare" icon={icon} label={`Theme: ${words}`} title={`Theme: ${words} (t)`} onClick={turn} />
  )
}
