import './first-call-card.css'
import type { JSX } from 'preact'
import { useLive } from '../data/live.ts'
import { Card } from './card.tsx'
import { CopyButton } from './copy-button.tsx'
import { Note } from './note.tsx'
import { baseUrlOf, firstCall } from './first-call.ts'

/** Before the first call: how to make it. */
export function FirstCallCard(): JSX.Element {
  const [baseUrl, isStopped] = useLive(({ status }) => [
    baseUrlOf(status, location.hostname),
    status?.running === false,
  ])
  const command = firstCall(baseUrl)
  return (
    <Card title="No calls yet" class="first-call">
      <p>Send one through the gateway, and this page fills with what it did.</p>
      <div class="first-call-command">
        <pre>{command}</pre>
        <CopyButton text={command} what="the command" />
      </div>
      <p>
        For a client library, the base URL is <code>{baseUrl}</code>{' '}
        <CopyButton text={baseUrl} what="the base URL" />
        <br />
        <span class="quiet">
          The rest of the program stays as it is: model names and keys are passed on unchanged.
        </span>
      </p>
      {isStopped && <Note tone="warn">The gateway is stopped: start it first, at the top of the page.</Note>}
    </Card>
  )
}
