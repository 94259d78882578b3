import type { JSX } from 'preact'
import { Icon, type IconName } from '../design/icon.tsx'
import { useStoredChoice } from '../design/use-stored-choice.ts'
import { useShortcuts } from '../design/keys.tsx'
import { type Theme, usePreferences } from './preferences.tsx'

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
  const [theme, choose] = useStoredChoice(usePreferences().theme)
  const { icon, words, next } = looks[theme]
  const turn = (): void => choose(next)
  useShortcuts('Page', [{ key: 't', words: 'Next theme', run: turn }])
  return (
    <button
      type="button"
      class="button bare icon"
      aria-label={`Theme: ${words}`}
      title={`Theme: ${words} (t)`}
      onClick={turn}
    >
      <Icon name={icon} />
    </button>
  )
}
