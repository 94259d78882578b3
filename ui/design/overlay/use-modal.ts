import type { Ref } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

export interface Modal {
  /** Closes the dialog, returns the focus, and calls `then` (default: the callback of Escape). */
  readonly leave: (then?: () => void) => void
  /** Attributes of the `<dialog>`. */
  readonly props: {
    readonly ref: Ref<HTMLDialogElement>
    readonly onCancel: (event: Event) => void
    readonly onClose: () => void
  }
}

/** Returns an `onClick` that closes a `<dialog>` on a press beside its content, which hits the dialog itself. */
export function onPressBeside(close: () => void): (event: MouseEvent) => void {
  return (event) => {
    if (event.target === event.currentTarget) close()
  }
}

/**
 * A modal dialog that is open while it is rendered. Calls `onLeave` synchronously: the native close event comes
 * with the next frame, when the dialog may be open again.
 */
export function useModal(onLeave: () => void): Modal {
  const dialog = useRef<HTMLDialogElement>(null)
  const hasLeft = useRef(false)
  useEffect(() => dialog.current?.showModal(), [])
  const leave = (then: () => void = onLeave): void => {
    if (hasLeft.current) return
    hasLeft.current = true
    dialog.current?.close()
    then()
  }
  const onCancel = (event: Event): void => {
    event.preventDefault()
    leave()
  }
  return { leave, props: { ref: dialog, onCancel, onClose: () => leave() } }
}
