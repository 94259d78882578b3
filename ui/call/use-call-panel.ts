import { useCallback, useEffect, useRef } from 'preact/hooks'
import type { CallTab } from '../data/call-text.ts'
import { useNavigation } from '../data/navigation.tsx'
import type { CallPanelProps } from './call-panel.tsx'

/** The state of the call panel beside a list. */
export interface ListedPanel<Call> {
  /**
   * Opens the panel of a call at a tab (default: `timing`). An open panel shows this call instead, and keeps its
   * tab.
   */
  readonly open: (id: string, tab?: CallTab) => void
  /** The call in the panel, if the list has it. */
  readonly call: Call | undefined
  /** Properties of the panel, which moves only through the list. */
  readonly moves: Pick<CallPanelProps, 'onClose' | 'onMove'>
}

/**
 * Keeps the call of the panel in the address, so that Back closes the panel. Moving to another call adds no history
 * entry. `onEnd` is called on a move beyond the last call of the list.
 */
export function useCallPanel<Call extends { readonly id: string }>(
  calls: readonly Call[],
  onEnd?: () => void,
): ListedPanel<Call> {
  const { address, go, replace } = useNavigation()
  /** True if this page opened the panel, so that Back closes it. */
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
