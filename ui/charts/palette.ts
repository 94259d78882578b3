import { useEffect, useState } from 'preact/hooks'

/** Colours of tokens.css that charts are drawn with. */
export const colourNames = [
  'accent',
  'first',
  'p50',
  'p99',
  'bad',
  'queue',
  'stream',
  'cost',
  'kind-1',
  'kind-2',
  'kind-3',
  'kind-4',
  'kind-5',
  'kind-6',
  'edge',
  'quiet',
] as const

export type ColourName = (typeof colourNames)[number]

/** As they are in the present theme, in a form that a canvas takes. */
export type Palette = Readonly<Record<ColourName, string>>

/**
 * What the colours come to now. A custom property tells only how it was written: `light-dark(…)`; a colour that
 * is made of it tells what it is. Where the reader's system chooses colours, it is theirs.
 */
function readPalette(): Palette {
  const probe = document.createElement('span')
  probe.hidden = true
  document.body.append(probe)
  const colours = colourNames.map((name) => {
    probe.style.color = `var(--${name})`
    return [name, getComputedStyle(probe).color] as const
  })
  probe.remove()
  return Object.fromEntries(colours) as unknown as Palette
}

/** The same colour, so much of it: `rgb(1, 2, 3)` at 0.2 is `rgb(1 2 3 / 0.2)`. */
export function faded(colour: string, share: number): string {
  const numbers = colour.match(/[\d.]+/g)?.slice(0, 3) ?? []
  return numbers.length === 3 ? `rgb(${numbers.join(' ')} / ${share.toFixed(3)})` : colour
}

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
