import { useMemo, useState } from 'preact/hooks'
import type { OutgoingRecord, PayloadRecord } from '../../src/api/raw-log.ts'
import { Button } from '../design/button.tsx'
import { CopyButton } from '../design/copy-button.tsx'
import { Banner } from '../design/banner.tsx'
import { EmptyState } from '../design/empty-state.tsx'
import { Segments } from '../design/form/segments.tsx'
import { bytes, count } from '../format/figures.ts'
import { indentedJson, memberText } from './json-text.ts'
import { JsonView } from './json-view.tsx'
import type { KeptPayload } from './kept-payload.ts'
import { Messages } from './messages.tsx'
import { isReassembled, readAnswer } from './read-answer.ts'
import { cutText, shownText } from './shown-text.ts'

/** A body as readable text. */
interface ReadBody {
  readonly text: string
  readonly isJson: boolean
}

/** Returns the body of a record; null without one. A body that is no text is base64. */
export function readBody({ record, json }: KeptPayload): ReadBody | null {
  const { body } = record
  if (body === null || body === undefined) return null
  if (typeof body === 'string') return { text: body, isJson: false }
  return { text: memberText(json, 'body') ?? JSON.stringify(body), isJson: true }
}

export interface BodyViewProps {
  readonly payload: KeptPayload<PayloadRecord | OutgoingRecord>
  readonly what: 'request' | 'answer'
}

/** A body as sent. For a stream, the messages assembled from its events come first. */
export function BodyView({ payload, what }: BodyViewProps) {
  const { record } = payload
  const { body_bytes: size, body_withheld: withheld, truncated, body_encoding: encoding } = record
  const body = readBody(payload)
  const isStream = what === 'answer' && isReassembled(record)
  return (
    <div class="payload-tab stack">
      {isStream && <Messages title="Reassembled" messages={readAnswer(record)} />}
      {truncated && <Banner>Only the beginning was captured: the full body is {bytes(size)}.</Banner>}
      {withheld !== undefined && <Banner>The body was not captured: {withheld}</Banner>}
      {body !== null && (
        <BodyText
          title={isStream ? 'Events' : encoding === 'base64' ? 'Body as base64' : 'Body'}
          about={`${bytes(size)}${body.isJson ? ' of JSON' : ''}`}
          {...body}
        />
      )}
      {body === null && withheld === undefined && (
        <EmptyState>
          {size === 0
            ? `The ${what === 'answer' ? 'response' : what} has no body.`
            : 'The body was not captured.'}
        </EmptyState>
      )}
    </div>
  )
}

/** The most characters shown, because a browser is slow to lay out more. */
const shownLength = 200_000

const formWords = { pretty: 'Pretty', raw: 'Raw' }

export interface BodyTextProps extends ReadBody {
  readonly title: string
  /** The size, beside the title. */
  readonly about: string
}

/** A text that may be long. Readers can indent and wrap it. */
export function BodyText({ title, about, text, isJson }: BodyTextProps) {
  const [form, setForm] = useState<'pretty' | 'raw'>('pretty')
  const [isWrapped, setWrapped] = useState(true)
  const [isAll, setAll] = useState(false)
  const isPretty = isJson && form === 'pretty'
  const chosen = useMemo(() => (isPretty ? indentedJson(text) : text), [text, isPretty])
  const isCut = !isAll && chosen.length > shownLength
  const shown = useMemo(() => shownText(isCut ? cutText(chosen, shownLength) : chosen), [chosen, isCut])
  return (
    <section class="body-text stack">
      <div class="row wraps">
        <h3>{title}</h3>
        <span class="fine">
          {about}
          {isCut && ', beginning only'}
        </span>
        <div class="row wraps at-end">
          {isJson && (
            <Segments
              class="segments small"
              label={`${title} format`}
              words={formWords}
              chosen={form}
              onChoose={setForm}
            />
          )}
          <Button kind="bare" small aria-pressed={isWrapped} onClick={() => setWrapped(!isWrapped)}>
            Wrap
          </Button>
          <CopyButton text={() => chosen} what={`the ${title.toLowerCase()}`} />
        </div>
      </div>
      <pre
        class={`code-block inset ${isWrapped ? 'wrapped' : ''}`}
        tabIndex={0}
        role="region"
        aria-label={title}
      >
        {isJson ? <JsonView text={shown} /> : shown}
      </pre>
      {isCut && (
        <Button small class="more" onClick={() => setAll(true)}>
          Show all {count(chosen.length)} characters
        </Button>
      )}
    </section>
  )
}
