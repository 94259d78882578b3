import { useMemo, useState } from 'preact/hooks'
import { Button } from '../design/button.tsx'
import { CopyButton } from '../design/copy-button.tsx'
import { count } from '../format/figures.ts'
import { indentedJson } from './json-text.ts'
import { JsonView } from './json-view.tsx'
import { MarkdownView } from './markdown-view.tsx'
import { type ChatMessage, type MessagePart, wordsOf } from './read-messages.ts'
import { cutText, shownText } from './shown-text.ts'

/** The number of messages shown at first. An agent's conversation has hundreds, with new ones at its end. */
const shownAtFirst = 8
/** A longer part is cut until its reader opens the rest. */
const shownLength = 6000

export interface MessagesProps {
  readonly title: string
  readonly messages: readonly ChatMessage[]
}

/** The messages of a conversation. If there are many, the last ones are shown first. */
export function Messages({ title, messages }: MessagesProps) {
  const [areAll, setAll] = useState(false)
  const hidden = areAll ? 0 : Math.max(0, messages.length - shownAtFirst)
  return (
    <section class="messages">
      <h3>{title}</h3>
      {hidden > 0 && (
        <Button small onClick={() => setAll(true)}>
          Show {count(hidden)} earlier messages
        </Button>
      )}
      <ol>
        {messages.slice(hidden).map(({ speaker, note, parts }, at) => (
          <li key={hidden + at} class="stack" data-speaker={speaker}>
            <div class="speaker row">
              <strong class="cut">{speaker}</strong>
              {note !== null && <span class="quiet">{note}</span>}
              {parts.length > 0 && <CopyButton text={() => wordsOf(parts)} what="the message" />}
            </div>
            {parts.length === 0 && <p class="quiet">Empty.</p>}
            {parts.map((part, at) => (
              <Part key={at} part={part} />
            ))}
          </li>
        ))}
      </ol>
    </section>
  )
}

function Part({ part }: { readonly part: MessagePart }) {
  const { kind, text } = part
  switch (kind) {
    case 'text':
      return <Text text={text} />
    case 'json':
      return <Text text={text} isCode />
    case 'media':
      return <p class="said-media fine">{shownText(cutText(text, 300))}</p>
    case 'refusal':
      return (
        <div class="said-box inset">
          <p class="quiet">Refused</p>
          <Text text={text} />
        </div>
      )
    case 'reasoning':
      return (
        <details class="said-box inset">
          <summary class="fine">Reasoning, {count(text.length)} characters</summary>
          <Text text={text} />
        </details>
      )
    case 'call':
    case 'result': {
      const isBad = kind === 'result' && part.isError
      return (
        <div class={`said-box inset ${isBad ? 'is-bad' : ''}`}>
          <p>
            <span class="quiet">{kind === 'call' ? 'Calls' : isBad ? 'Failed' : 'Result'}</span>{' '}
            {kind === 'call' && <strong>{shownText(part.name)} </strong>}
            {part.id !== null && <code class="quiet">{shownText(part.id)}</code>}
          </p>
          <Text text={text} isCode />
        </div>
      )
    }
  }
}

interface TextProps {
  readonly text: string
  /** True for code, which is monospaced, and indented if it is JSON. */
  readonly isCode?: boolean
}

function Text({ text, isCode = false }: TextProps) {
  const [isAll, setAll] = useState(false)
  const hasJson = useMemo(() => isCode && isJson(text), [text, isCode])
  const fullText = useMemo(() => (hasJson ? indentedJson(text) : text), [text, hasJson])
  const isCut = !isAll && fullText.length > shownLength
  const shown = useMemo(() => shownText(isCut ? cutText(fullText, shownLength) : fullText), [fullText, isCut])
  return (
    <>
      <div class={`said wrapped ${isCode ? 'is-code' : ''}`}>
        {hasJson ? <JsonView text={shown} /> : isCode ? shown : <MarkdownView text={shown} />}
      </div>
      {isCut && (
        <Button small onClick={() => setAll(true)}>
          Show all {count(fullText.length)} characters
        </Button>
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
