import { useCallback, useEffect, useRef } from 'preact/hooks'
import type { CallTab } from '../data/call-words.ts'
import { useNavigation } from '../data/navigation.tsx'

/** How the panel of a call opens, moves on and closes. */
export interface PanelMoves {
  /** At its figures unless told. */
  readonly open: (id: string, tab?: CallTab) => void
  /** To another call: Back does not go through all that were looked at. */
  readonly moveTo: (id: string) => void
  readonly close: () => void
}

/** The panel stands in the address, and Back closes it. */
export function useCallPanel(): PanelMoves {
  const { address, go, amend } = useNavigation()
  /** It was opened on this page: Back closes it. */
  const isOwnStep = useRef(false)
  useEffect(() => {
    if (address.call === null) isOwnStep.current = false
  }, [address.call])
  const open = useCallback(
    (id: string, tab: CallTab = 'timing') => {
      isOwnStep.current = true
      go({ call: id, tab })
    },
    [go],
  )
  const close = useCallback(() => {
    if (isOwnStep.current) history.back()
    else amend({ call: null, tab: 'timing' })
  }, [amend])
  return { open, moveTo: useCallback((id: string) => amend({ call: id }), [amend]), close }
}
