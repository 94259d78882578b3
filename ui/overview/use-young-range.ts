import { useEffect, useRef } from 'preact/hooks'
import type { Overview } from '../../src/api/overview.ts'
import { useNavigation } from '../data/navigation.tsx'
import { isFiltered } from '../data/page-address.ts'
import { youngRange } from './young-range.ts'

/**
 * Goes to a shorter range where the page was opened without one, and all calls are of the last hours. Until that is
 * answered there is no answer to be shown: null.
 */
export function useYoungRange(answer: Overview | null): Overview | null {
  const { address, isFirst, amend } = useNavigation()
  const skipped = useRef<Overview | null>(null)
  const query = new URLSearchParams(location.search)
  const isOpen = isFirst && !query.has('range') && !query.has('from') && !isFiltered(address)
  const last = isOpen && answer !== null ? youngRange(answer) : null
  if (last !== null) skipped.current = answer
  useEffect(() => {
    if (last !== null) amend({ range: { last } })
  }, [last])
  return answer === skipped.current ? null : answer
}
