import './body-text.css'
import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { CopyButton } from '../design/copy-button.tsx'
import { Segments } from '../design/segments.tsx'
import { count } from '../format/figures.ts'
import { indentedJson } from './json-text.ts'
import { cutText, shownText } from './shown-text.ts'

/** More than anybody reads, and than a browser lays out at once. */
const shownLength = 200_000

const forms = [
  { choice: 'pretty', words: 'Pretty' },
  { choice: 'raw', words: 'Raw' },
] as const

export interface BodyTextProps {
  readonly title: string
  /** Beside the title: how much it is. */
  readonly about: string
  readonly text: string
  readonly isJson: boolean
}

/** A text that may be long, as it is or indented, wrapped or not. */
export function BodyText({ title, about, text, isJson }: BodyTextProps): JSX.Element {
  const [form, setForm] = useState<'pretty' | 'raw'>('pretty')
  const [isWrapped, setWrapped] = useState(true)
  const [isAll, setAll] = useState(false)
  const chosen = useMemo(
    () => (isJson && form === 'pretty' ? indentedJson(text) : text),
    [text, isJson, form],
  )
  const isCut = !isAll && chosen.length > shownLength
  const shown = useMemo(() => shownText(isCut ? cutText(chosen, shownLength) : chosen), [chosen, isCut])
  return (
    <section class="body-text">
      <div class="tools">
        <h3>{title}</h3>
        <span class="quiet">
          {about}
          {isCut && ', its beginning'}
        </span>
        <div class="at-end">
          {isJson && (
            <Segments label={`Form of the ${title}`} choices={forms} chosen={form} onChoose={setForm} />
          )}
          <button
            type="button"
            class="button bare small"
            aria-pressed={isWrapped}
            onClick={() => setWrapped(!isWrapped)}
          >
            Wrap
          </button>
          <CopyButton text={() => chosen} what={`the ${title.toLowerCase()}`} />
        </div>
      </div>
      <pre class={isWrapped ? 'is-wrapped' : ''} tabIndex={0} role="region" aria-label={title}>
        {shown}
      </pre>
      {isCut && (
        <button type="button" class="button small more" onClick={() => setAll(true)}>
          Show all {count(chosen.length)} characters
        </button>
      )}
    </section>
  )
}
