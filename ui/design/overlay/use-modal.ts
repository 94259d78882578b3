import { useEffect, useRef } from 'preact/hooks'

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
export function useModal(onLeave: () => void) {
  const dialog = useRef<HTMLDialogElement>(null)
  const hasLeft = useRef(false)
  useEffect(() => dialog.current?.showModal(), [])
  /** Closes the dialog, returns the focus, and calls `then` (default: the callback of Escape). */
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
  /** Attributes of the `<dialog>`. */
  const props = { ref: dialog, onCancel, onClose: () => leave() }
  return { leave, props }
}
