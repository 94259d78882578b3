import { useCallback, useEffect, useRef } from 'preact/hooks'
import type { CallTab } from '../data/call-text.ts'
import { useNavigation } from '../data/navigation.tsx'
import type { CallPanelProps } from './call-panel.tsx'

/** The panel of a call beside a list. */
export interface ListedPanel<Call> {
  /** Opens the panel of a call (default: at its figures). One that is open shows this call instead, at its tab. */
  readonly open: (id: string, tab?: CallTab) => void
  /** The call whose panel is open, if it is in the list. */
  readonly call: Call | undefined
  /** Properties of the panel, which moves only through the list. */
  readonly moves: Pick<CallPanelProps, 'onClose' | 'onMove'>
}

/**
 * The call panel is part of the address, and Back closes it. Moving to another call adds no history entry.
 * `onEnd` is called on a move beyond the last call of the list.
 */
export function useCallPanel<Call extends { readonly id: string }>(
  calls: readonly Call[],
  onEnd?: () => void,
): ListedPanel<Call> {
  const { address, go, replace } = useNavigation()
  /** The panel was opened on this page, so that Back closes it. */
  const isOwnStep = useRef(false)
  const isOpen = useRef(false)
  isOpen.current = address.call !== null
  useEffect(() => {
    if (address.call === null) isOwnStep.current = false
  }, [address.call])
  const open = useCallback(
    (id: string, tab: CallTab = 'timing') => {
      if (isOpen.current) return replace({ call: id })
      isOwnStep.current = true
      go({ call: id, tab })
    },
    [go, replace],
  )
  const close = (): void => {
    if (isOwnStep.current) history.back()
    else replace({ call: null, tab: 'timing' })
  }
  const at = address.call === null ? -1 : calls.findIndex(({ id }) => id === address.call)
  const onMove = (step: 1 | -1): void => {
    const next = calls[at + step]
    if (next !== undefined) replace({ call: next.id })
    else if (step === 1) onEnd?.()
  }
  return { open, call: calls[at], moves: at < 0 ? { onClose: close } : { onClose: close, onMove } }
}
