import './log-card.css'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { actions } from '../data/dashboard-api.ts'
import { log } from '../data/live.ts'
import { reasonOf } from '../data/trouble.ts'
import { Card } from '../design/card.tsx'
import { ConfirmDialog } from '../design/confirm-dialog.tsx'
import { LogLines } from './log-lines.tsx'

/** The end of the gateway's log. It follows what is added, but never under the eyes of somebody who reads. */
export function LogCard({ file }: { readonly file: string }): JSX.Element {
  const [isAsked, setIsAsked] = useState(false)
  const [isClearing, setIsClearing] = useState(false)
  const [trouble, setTrouble] = useState<string | null>(null)
  const clear = async (): Promise<void> => {
    setIsAsked(false)
    setIsClearing(true)
    setTrouble(null)
    try {
      await actions.clearLog()
    } catch (error) {
      setTrouble(reasonOf(error))
    } finally {
      setIsClearing(false)
    }
  }
  return (
    <Card
      title="Log"
      class="log-card"
      about={
        <>
          the end of <code id="log-file">{file}</code>
        </>
      }
      actions={
        <button
          type="button"
          class="button bare small"
          aria-disabled={isClearing}
          onClick={() => isClearing || setIsAsked(true)}
        >
          {isClearing ? 'Clearing…' : 'Clear'}
          <span class="aside"> the log</span>
        </button>
      }
    >
      {trouble !== null && (
        <p class="note bad" role="alert">
          {trouble}
        </p>
      )}
      <LogLines log={log} />
      {isAsked && (
        <ConfirmDialog
          title="Clear the log?"
          yes="Clear"
          points={['Its lines are gone for good.', 'Recorded calls stay.']}
          onYes={() => void clear()}
          onNo={() => setIsAsked(false)}
        />
      )}
    </Card>
  )
}
