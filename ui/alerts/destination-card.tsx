import { useState } from 'preact/hooks'
import type { AlertsReport, AlertTest } from '../../src/api/alerts.ts'
import { act } from '../data/dashboard-api.ts'
import { useAction } from '../data/use-action.ts'
import { Button } from '../design/button.tsx'
import { Card } from '../design/card.tsx'
import { receiverWords } from './alert-words.ts'

export interface DestinationCardProps {
  readonly report: AlertsReport
  readonly onTested: () => void
}

/** Where messages go, and a test that says what came back. */
export function DestinationCard({ report, onTested }: DestinationCardProps) {
  const [tested, setTested] = useState<AlertTest | null>(null)
  const test = useAction()
  const send = async (): Promise<void> => {
    setTested(null)
    setTested(await act<AlertTest>('POST', '/api/alerts/test'))
    onTested()
  }
  const told = test.trouble?.message ?? (tested === null ? null : testWords(tested, report))
  const isBad = test.trouble !== null || tested?.delivered === false
  return (
    <Card
      title="Destination"
      actions={
        report.receiver !== null && (
          <Button kind="bare" small isOff={test.isBusy} onClick={() => void test.run(send)}>
            {test.isBusy ? 'Sending…' : 'Send a test'}
          </Button>
        )
      }
    >
      <p id="alert-receiver">{receiverWords(report)}</p>
      <p id="alert-told" class={isBad ? 'bad' : 'quiet'} role="status">
        {told}
      </p>
    </Card>
  )
}

function testWords({ delivered, detail }: AlertTest, { receiver }: AlertsReport): string {
  return `${receiver?.host ?? 'The webhook'} ${delivered ? 'took the test' : 'did not take the test'}: ${detail}`
}
