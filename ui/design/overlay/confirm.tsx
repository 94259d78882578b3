import { useId, useState } from 'preact/hooks'
import { Button, type ButtonProps } from '../button.tsx'
import { useModal } from './use-modal.ts'

export interface ConfirmDialogProps {
  /** The question. */
  readonly title: string
  /** The text of the button that confirms. */
  readonly yes: string
  /** True if the action neither ends nor removes anything. */
  readonly isHarmless?: boolean
  /** The text of the button that cancels (default: `Cancel`). */
  readonly no?: string
  /** The current consequences, updated while the dialog is open. */
  readonly points: readonly string[]
  readonly onYes: () => void
  /** Called when the reader cancels, by the button or by Escape. */
  readonly onNo: () => void
}

/**
 * A dialog before an action that others notice, open while it is rendered. The focus starts on the harmless button,
 * and returns to its last place afterwards.
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

/** The question before an action. */
export type Question = Pick<ConfirmDialogProps, 'title' | 'yes' | 'points'>

export interface ConfirmButtonProps extends Omit<ButtonProps, 'onClick'> {
  readonly question: Question
  readonly onYes: () => void
}

/** A button that asks before it acts. */
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
