import './messages.css'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { CopyButton } from '../design/copy-button.tsx'
import { count } from '../format/figures.ts'
import type { ChatMessage } from './chat-message.ts'
import { MessagePartView } from './message-part.tsx'
import { wordsOf } from './read-content.ts'

/** A conversation of an agent has hundreds: what is new stands at its end. */
const shownAtFirst = 8

export interface MessagesProps {
  readonly title: string
  readonly messages: readonly ChatMessage[]
  /** They came back: set apart from what was asked. */
  readonly isAnswer?: boolean
}

/** What was said, one after the other. */
export function Messages({ title, messages, isAnswer = false }: MessagesProps): JSX.Element {
  const [areAll, setAll] = useState(false)
  const hidden = areAll ? 0 : Math.max(0, messages.length - shownAtFirst)
  return (
    <section class={`messages ${isAnswer ? 'is-answer' : ''}`}>
      <h3>{title}</h3>
      {hidden > 0 && (
        <button type="button" class="button small" onClick={() => setAll(true)}>
          Show {count(hidden)} earlier messages
        </button>
      )}
      <ol>
        {messages.slice(hidden).map((message, at) => (
          <Message key={hidden + at} message={message} />
        ))}
      </ol>
    </section>
  )
}

function Message({ message }: { readonly message: ChatMessage }): JSX.Element {
  const { speaker, note, parts } = message
  return (
    <li>
      <div class="speaker">
        <strong>{speaker}</strong>
        {note !== null && <span class="quiet">{note}</span>}
        {parts.length > 0 && <CopyButton text={() => wordsOf(parts)} what="what was said" />}
      </div>
      {parts.length === 0 && <p class="quiet">Nothing.</p>}
      {parts.map((part, at) => (
        <MessagePartView key={at} part={part} />
      ))}
    </li>
  )
}
