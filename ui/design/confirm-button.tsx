import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Button, type ButtonProps } from './button.tsx'
import { ConfirmDialog, type ConfirmDialogProps } from './confirm-dialog.tsx'

export interface ConfirmButtonProps extends Omit<ButtonProps, 'onClick'> {
  readonly question: Pick<ConfirmDialogProps, 'title' | 'yes' | 'points'>
  readonly onYes: () => void
}

/** A button that asks before it does anything. */
export function ConfirmButton({ question, onYes, ...button }: ConfirmButtonProps): JSX.Element {
  const [isAsked, setAsked] = useState(false)
  return (
    <>
      <Button {...button} onClick={() => setAsked(true)} />
      {isAsked && (
        <ConfirmDialog
          {...question}
          onYes={() => {
            setAsked(false)
            onYes()
          }}
          onNo={() => setAsked(false)}
        />
      )}
    </>
  )
}
