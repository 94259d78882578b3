import type { OutgoingRecord, PayloadRecord } from '../../src/api/raw-log.ts'
import { DescriptionList } from '../design/description-list.tsx'
import type { KeptPayloads } from './kept-payload.ts'
import { shownText } from './shown-text.ts'

/** The headers of the request and the response. */
export function HeadersView({ request, answer }: KeptPayloads) {
  const areSomeMasked = [request, answer]
    .flatMap((side) => Object.values(side?.record.headers ?? {}).flat())
    .some(isMasked)
  return (
    <div class="headers-view stack">
      {request !== null && (
        <Head
          title="Request"
          line={`${request.record.method} ${request.record.path}`}
          record={request.record}
        />
      )}
      {answer !== null && <Head title="Response" line={statusWords(answer.record)} record={answer.record} />}
      {request === null && <p class="fine">The request was not captured.</p>}
      {answer === null && <p class="fine">The response was not captured.</p>}
      {areSomeMasked && (
        <p class="fine">
          Keys are redacted: <code>hmac:</code> and eight digits identify a key, and the number after them is
          its length.
        </p>
      )}
    </div>
  )
}

interface HeadProps {
  readonly title: string
  readonly line: string
  readonly record: PayloadRecord
}

function Head({ title, line, record }: HeadProps) {
  return (
    <section>
      <h3>{title}</h3>
      <p class="first-line inset">
        <code>{shownText(line)}</code>
      </p>
      <DescriptionList
        class="panel-list"
        facts={Object.entries(record.headers).map(([name, value]) => [
          shownText(name),
          [value].flat().map((item, at) => (
            <span key={at} class={isMasked(item) ? 'masked quiet' : ''}>
              <code>{shownText(item)}</code>
              {isMasked(item) && <span class="tag">masked</span>}
            </span>
          )),
        ])}
      />
    </section>
  )
}

function statusWords({ status }: OutgoingRecord): string {
  return status === null ? 'No response sent' : `Status ${status}`
}

function isMasked(value: string): boolean {
  return /\bhmac:[0-9a-f]{8}\(\d+\)/.test(value)
}
