import { useEffect } from 'preact/hooks'
import type { RawLogStatus } from '../../src/api/raw-log.ts'
import { act } from '../data/dashboard-api.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { useLive } from '../data/live.ts'
import { useTimes } from '../data/navigation.tsx'
import { useAction } from '../data/use-action.ts'
import { useQuery } from '../data/use-query.ts'
import { Awaited } from '../design/awaited.tsx'
import { Button } from '../design/button.tsx'
import { ConfirmButton } from '../design/overlay/confirm.tsx'
import { StateMark } from '../design/icon.tsx'
import { counted } from '../format/figures.ts'
import { Control } from '../design/form/control.tsx'
import { captureRules, clearPoints, keepingTimes, loggingText } from './payload-logging-text.ts'

const lookEveryMs = 5000

/** Shows and switches the logging of payloads. */
export function PayloadLoggingCard() {
  const times = useTimes()
  const isRunning = useLive(({ status }) => status?.running ?? false)
  const query = useQuery<RawLogStatus>('/api/raw-log/status', {
    everyMs: lookEveryMs,
    version: String(isRunning),
  })
  const { answer: status } = query
  const { isBusy, error, run, forgetError } = useAction()
  useEffect(forgetError, [status?.enabled, isRunning])
  const change = (method: string, path: string, body?: object): void =>
    void run(() => act(method, path, body)).then(query.again)
  if (status === null) {
    return (
      <section class="card card-bar row wraps keeping-card" aria-label="Payload capture">
        <Awaited what="payload capture" {...query} height="2.75rem" />
      </section>
    )
  }
  const { enabled, enabled_until: until, dropped } = status
  const untilWords = until === null ? null : times.clock(Date.parse(until))
  const words = loggingText(status, untilWords, nowMs())
  const problem = error?.message ?? query.error ?? status.trouble
  const isOff = !isRunning || isBusy
  return (
    <section class="card card-bar row wraps keeping-card" aria-labelledby="keeping-title">
      <div class={`keeping-state row ${enabled ? 'is-on' : ''}`}>
        <StateMark shape={enabled ? 'disc' : 'ring'} />
        <div>
          <h2 id="keeping-title">{words.title}</h2>
          <p class="fine">
            {words.about} {enabled && <code>{status.file_path}</code>}
          </p>
          {dropped > 0 && <p class="fine">{counted(dropped, 'record')} lost: too many at once.</p>}
        </div>
      </div>
      <div class="row wraps" role="group" aria-labelledby="keeping-title">
        {enabled ? (
          <Button isOff={isOff} onClick={() => change('POST', '/api/raw-log/toggle', { enabled: false })}>
            Turn off
          </Button>
        ) : (
          <>
            <span class="fine">Capture</span>
            <Control
              value={status.capture}
              choices={captureRules(status.capture)}
              aria-label="Calls to capture"
              disabled={isBusy}
              onInput={(rule) => change('PUT', '/api/proxy/config', { raw_log_capture: rule })}
            />
            <span class="fine">for</span>
            {keepingTimes.map(({ forS, words }) => (
              <Button
                key={words}
                isOff={isOff}
                title={isRunning ? undefined : 'The gateway is stopped.'}
                onClick={() =>
                  change('POST', '/api/raw-log/toggle', {
                    enabled: true,
                    ...(forS !== null && { for_s: forS }),
                  })
                }
              >
                {words}
              </Button>
            ))}
          </>
        )}
        {status.file_size_bytes > 0 && (
          <ConfirmButton
            kind="bare"
            isOff={isBusy}
            question={{ title: 'Delete captured payloads?', yes: 'Delete', points: clearPoints(status) }}
            onYes={() => change('POST', '/api/raw-log/clear')}
          >
            Delete…<span class="aside"> captured payloads</span>
          </ConfirmButton>
        )}
      </div>
      {problem !== null && (
        <p class="bad" role="alert">
          {problem}
        </p>
      )}
    </section>
  )
}
