import { useEffect, useState } from 'preact/hooks'
import { type Palette, readPalette } from './palette.ts'

const systemChoices = ['(prefers-color-scheme: dark)', '(forced-colors: active)', '(prefers-contrast: more)']

/** The colours of charts in the present theme, and in the next one as soon as it is chosen. */
export function usePalette(): Palette {
  const [palette, setPalette] = useState(readPalette)
  useEffect(() => {
    const read = (): void => setPalette(readPalette())
    const ofPage = new MutationObserver(read)
    ofPage.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
    const ofSystem = systemChoices.map((query) => matchMedia(query))
    for (const choice of ofSystem) choice.addEventListener('change', read)
    return () => {
      ofPage.disconnect()
      for (const choice of ofSystem) choice.removeEventListener('change', read)
    }
  }, [])
  return palette
}
