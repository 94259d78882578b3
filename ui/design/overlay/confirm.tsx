import { useId, useState } from 'preact/hooks'
import { Button, type ButtonProps } from '../button.tsx'
import { useModal } from './use-modal.ts'

export interface ConfirmDialogProps {
  /** A question. */
  readonly title: string
  /** The word on the button that does it. */
  readonly yes: string
  /** The action ends and removes nothing. */
  readonly isHarmless?: boolean
  /** The text of the button that cancels (default: `Cancel`). */
  readonly no?: string
  /** The consequences at present, updated while the dialog is open. */
  readonly points: readonly string[]
  readonly onYes: () => void
  /** Called for Escape, too. */
  readonly onNo: () => void
}

/**
 * Asks before something is done that others notice. It is open as long as it is there; the focus goes first to what
 * does no harm, and back to where it was.
 */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, yes, isHarmless = false, no = 'Cancel', points, onYes, onNo } = props
  const { leave, props: modal } = useModal(onNo)
  const id = useId()
  return (
    <dialog {...modal} class="confirm-dialog" aria-labelledby={id} aria-describedby={`${id}-points`}>
      <h2 id={id}>{title}</h2>
      <ul id={`${id}-points`} class="points stack">
        {points.map((point) => (
          <li key={point}>{point}</li>
        ))}
      </ul>
      <div class="buttons row wraps">
        <Button onClick={() => leave()}>{no}</Button>
        <Button kind={isHarmless ? 'strong' : 'danger'} onClick={() => leave(onYes)}>
          {yes}
        </Button>
      </div>
    </dialog>
  )
}

/** The question before a button acts. */
export type Question = Pick<ConfirmDialogProps, 'title' | 'yes' | 'points'>

export interface ConfirmButtonProps extends Omit<ButtonProps, 'onClick'> {
  readonly question: Question
  readonly onYes: () => void
}

/** A button that asks before it does anything. */
export function ConfirmButton({ question, onYes, ...button }: ConfirmButtonProps) {
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
