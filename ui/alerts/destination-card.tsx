import { useState } from 'preact/hooks'
import type { AlertsReport, AlertTest } from '../../src/api/alerts.ts'
import { act } from '../data/dashboard-api.ts'
import { useAction } from '../data/use-action.ts'
import { Button } from '../design/button.tsx'
import { Card } from '../design/card.tsx'
import { ConfirmButton } from '../design/overlay/confirm.tsx'
import { SettingRow } from '../design/form/setting-row.tsx'
import { formats, receiverWords } from './alert-text.ts'

export interface DestinationCardProps {
  readonly report: AlertsReport
  readonly onSaved: (report: AlertsReport) => void
  readonly onTested: () => void
}

/** The card of the messages' destination. Each change is saved at once; a test shows the response. */
export function DestinationCard({ report, onSaved, onTested }: DestinationCardProps) {
  const { receiver } = report
  const [url, setUrl] = useState('')
  /** The format that was chosen before there is an address. */
  const [format, setFormat] = useState('json')
  const [tested, setTested] = useState<AlertTest | null>(null)
  const saving = useAction()
  const test = useAction()
  const fixedBy = receiver?.fixed_by ?? null
  const save = (webhook: object | null): void => {
    setTested(null)
    void saving.run(async () => {
      onSaved(await act<AlertsReport>('PUT', '/api/alerts', { webhook }))
      setUrl('')
    })
  }
  const send = async (): Promise<void> => {
    setTested(null)
    setTested(await act<AlertTest>('POST', '/api/alerts/test'))
    onTested()
  }
  const result = test.error?.message ?? (tested === null ? null : testWords(tested, report))
  const isBad = test.error !== null || tested?.delivered === false
  return (
    <Card title="Destination" about={<span id="alert-receiver">{receiverWords(report)}</span>}>
      <SettingRow
        id="alert-url"
        title="Webhook URL"
        value={url}
        hint={receiver === null ? 'https://…' : `https://${receiver.host}/… (hidden)`}
        fixed={fixedBy === null ? null : `${receiver?.host}/…`}
        isDisabled={report.problem !== null}
        error={saving.error?.message ?? null}
        about={
          fixedBy === null
            ? 'Slack, Discord, ntfy, or any server that accepts a POST. Once saved, only the host is shown.'
            : `Locked: set by ${fixedBy}.`
        }
        onInput={setUrl}
        onChange={() => {
          if (url.trim() !== '') save(receiver === null ? { url: url.trim(), format } : { url: url.trim() })
        }}
      />
      <SettingRow
        id="alert-format"
        title="Format"
        value={receiver?.format ?? format}
        choices={formats}
        fixed={fixedBy === null ? null : (receiver?.format ?? null)}
        isDisabled={report.problem !== null}
        error={null}
        about=""
        onInput={(next) => {
          setFormat(next)
          if (receiver !== null || saving.isBusy) save({ format: next })
        }}
      />
      {receiver !== null && (
        <div class="row wraps">
          <p id="alert-told" class={isBad ? 'bad' : 'quiet'} role="status">
            {result}
          </p>
          <div class="buttons row wraps at-end">
            {fixedBy === null && (
              <ConfirmButton
                isOff={saving.isBusy}
                question={{
                  title: 'Remove the webhook?',
                  yes: 'Remove',
                  points: ['Alerts will only appear in the dashboard.'],
                }}
                onYes={() => save(null)}
              >
                Remove
              </ConfirmButton>
            )}
            <Button isOff={test.isBusy} onClick={() => void test.run(send)}>
              {test.isBusy ? 'Sending…' : 'Send a test'}
            </Button>
          </div>
        </div>
      )}
    </Card>
  )
}

function testWords({ delivered, detail }: AlertTest, { receiver }: AlertsReport): string {
  return `${receiver?.host ?? 'The webhook'} ${delivered ? 'accepted the test' : 'did not accept the test'}: ${detail}`
}
