import { useCallback, useRef } from 'preact/hooks'
import type { CallTab } from '../data/call-text.ts'
import { stepsAdded, useNavigation } from '../data/navigation.tsx'
import { writeAddress } from '../data/page-address.ts'
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
  const isOpen = useRef(false)
  isOpen.current = address.call !== null
  /** The address without the panel. */
  const around = useRef('')
  around.current = writeAddress({ ...address, call: null, tab: 'timing' })
  /** The history when this page opened the panel. While it is the same, Back closes the panel and changes nothing else. */
  const opened = useRef<string | null>(null)
  const now = (): string => `${stepsAdded()} ${around.current}`
  const open = useCallback(
    (id: string, tab: CallTab = 'timing') => {
      if (isOpen.current) return replace({ call: id })
      go({ call: id, tab })
      opened.current = now()
    },
    [go, replace],
  )
  const close = (): void => {
    if (opened.current === now()) history.back()
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
