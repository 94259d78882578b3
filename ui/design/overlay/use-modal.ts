import type { Ref } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

export interface Modal {
  /** Closes it, gives the focus back, and says so: by `then`, if that is told, else as with Escape. */
  readonly leave: (then?: () => void) => void
  /** Attributes of the `<dialog>`. */
  readonly props: {
    readonly ref: Ref<HTMLDialogElement>
    readonly onCancel: (event: Event) => void
    readonly onClose: () => void
  }
}

/** Closes a `<dialog>` when somebody presses beside it: that is a press on the dialog itself. For its `onClick`. */
export function onPressBeside(close: () => void): (event: MouseEvent) => void {
  return (event) => {
    if (event.target === event.currentTarget) close()
  }
}

/**
 * A modal dialog that is open as long as it is there. That it was left is said at once: its close event comes with the next
 * frame, when somebody may have opened it again.
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
