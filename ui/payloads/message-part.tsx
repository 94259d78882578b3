import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { count } from '../format/figures.ts'
import type { MessagePart } from './chat-message.ts'
import { indentedJson } from './json-text.ts'
import { cutText, shownText } from './shown-text.ts'

/** More of one part is for those who ask. */
const shownLength = 6000

/** One piece of a message, as text. */
export function MessagePartView({ part }: { readonly part: MessagePart }): JSX.Element {
  switch (part.kind) {
    case 'text':
      return <Text text={part.text} />
    case 'refusal':
      return (
        <div class="said-box">
          <p class="quiet">Refused</p>
          <Text text={part.text} />
        </div>
      )
    case 'reasoning':
      return (
        <details class="said-box">
          <summary>Reasoning, {count(part.text.length)} characters</summary>
          <Text text={part.text} />
        </details>
      )
    case 'media':
      return <p class="said-media">{shownText(cutText(part.text, 300))}</p>
    case 'call':
      return (
        <div class="said-box">
          <p>
            <span class="quiet">Calls</span> <strong>{shownText(part.name)}</strong>{' '}
            {part.id !== null && <code class="quiet">{shownText(part.id)}</code>}
          </p>
          <Text text={part.text} isCode />
        </div>
      )
    case 'result':
      return (
        <div class={`said-box ${part.isError ? 'is-bad' : ''}`}>
          <p>
            <span class="quiet">{part.isError ? 'Failed' : 'Result'}</span>{' '}
            {part.id !== null && <code class="quiet">{shownText(part.id)}</code>}
          </p>
          <Text text={part.text} isCode />
        </div>
      )
    case 'json':
      return <Text text={part.text} isCode />
  }
}

interface TextProps {
  readonly text: string
  /** JSON, indented where it is some. */
  readonly isCode?: boolean
}

function Text({ text, isCode = false }: TextProps): JSX.Element {
  const [isAll, setAll] = useState(false)
  const whole = useMemo(() => (isCode && isJson(text) ? indentedJson(text) : text), [text, isCode])
  const isCut = !isAll && whole.length > shownLength
  const shown = useMemo(() => shownText(isCut ? cutText(whole, shownLength) : whole), [whole, isCut])
  return (
    <>
      <div class={isCode ? 'said is-code' : 'said'}>{shown}</div>
      {isCut && (
        <button type="button" class="button small" onClick={() => setAll(true)}>
          Show all {count(whole.length)} characters
        </button>
      )}
    </>
  )
}

function isJson(text: string): boolean {
  if (!/^\s*[{[]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
