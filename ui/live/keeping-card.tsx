import './keeping-card.css'
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { RawLogStatus } from '../../src/api/raw-log.ts'
import { actions } from '../data/dashboard-api.ts'
import { useLive } from '../data/live.ts'
import { reasonOf } from '../data/trouble.ts'
import { useAnswer } from '../data/use-answer.ts'
import { ConfirmDialog } from '../design/confirm-dialog.tsx'
import { StateMark } from '../design/state-mark.tsx'
import { counted } from '../format/figures.ts'
import type { Times } from '../format/times.ts'
import { clearPoints, keepingTimes, keepingWords } from './keeping-words.ts'
import { nowMs } from '../data/dashboard-clock.ts'

const statusPath = '/api/raw-log/status'
const lookEveryMs = 5000

/** Whether payloads are kept in a file, where, and the switch for it. */
export function KeepingCard({ times }: { readonly times: Times }): JSX.Element {
  const gateway = useLive(({ status }) => status)
  const isRunning = gateway?.running ?? false
  const {
    answer: status,
    trouble: lookTrouble,
    again,
  } = useAnswer<RawLogStatus>(`${statusPath} ${isRunning}`, () => statusPath, { everyMs: lookEveryMs })
  const [isBusy, setBusy] = useState(false)
  const [isAsked, setAsked] = useState(false)
  const [trouble, setTrouble] = useState<string | null>(null)
  useEffect(() => setTrouble(null), [status?.enabled, isRunning])
  const act = async (action: () => Promise<unknown>): Promise<void> => {
    if (isBusy) return
    setBusy(true)
    setTrouble(null)
    try {
      await action()
    } catch (error) {
      setTrouble(reasonOf(error))
    } finally {
      setBusy(false)
      again()
    }
  }
  if (status === null) {
    return (
      <section class="card keeping-card" aria-label="What is kept">
        {lookTrouble === null ? (
          <div class="skeleton" style={{ height: '2.75rem' }} />
        ) : (
          <p class="keeping-told is-bad" role="alert">
            Whether payloads are kept cannot be told: {lookTrouble}
          </p>
        )}
      </section>
    )
  }
  const untilMs = status.enabled_until === null ? null : Date.parse(status.enabled_until)
  const words = keepingWords(status, untilMs === null ? null : times.clock(untilMs), nowMs())
  const canSwitch = isRunning && !isBusy
  const problem = trouble ?? status.trouble
  return (
    <section class="card keeping-card" aria-labelledby="keeping-title">
      <div class={`keeping-state ${status.enabled ? 'is-on' : ''}`}>
        <StateMark shape={status.enabled ? 'disc' : 'ring'} />
        <div>
          <h2 id="keeping-title">{words.title}</h2>
          <p>
            {words.about} {status.enabled && <code>{status.file_path}</code>}
          </p>
          {status.dropped > 0 && (
            <p>{counted(status.dropped, 'record')} could not be kept: too many came at once.</p>
          )}
        </div>
      </div>
      <div class="keeping-switch">
        {status.enabled ? (
          <button
            type="button"
            class="button"
            aria-disabled={!canSwitch}
            onClick={() => canSwitch && void act(() => actions.logPayloads(false, null))}
          >
            Switch off
          </button>
        ) : (
          <>
            <span id="keeping-for">Keep them</span>
            <div class="keeping-times" role="group" aria-labelledby="keeping-for">
              {keepingTimes.map(({ forS, words }) => (
                <button
                  key={words}
                  type="button"
                  class="button"
                  aria-disabled={!canSwitch}
                  title={isRunning ? undefined : 'The gateway is stopped.'}
                  onClick={() => canSwitch && void act(() => actions.logPayloads(true, forS))}
                >
                  {words}
                </button>
              ))}
            </div>
          </>
        )}
        {status.file_size_bytes > 0 && (
          <button
            type="button"
            class="button bare"
            aria-disabled={isBusy}
            onClick={() => {
              if (!isBusy) setAsked(true)
            }}
          >
            Clear…<span class="aside"> the file</span>
          </button>
        )}
      </div>
      {problem !== null && (
        <p class="keeping-told is-bad" role="alert">
          {problem}
        </p>
      )}
      {isAsked && (
        <ConfirmDialog
          title="Clear the file of payloads?"
          yes="Clear"
          points={clearPoints(status)}
          onYes={() => {
            setAsked(false)
            void act(actions.clearPayloads)
          }}
          onNo={() => setAsked(false)}
        />
      )}
    </section>
  )
}
