import { useEffect, useRef, useState } from 'preact/hooks'
import type { CallJson } from '../../src/call/call-record.ts'
import type { PageAddress } from '../data/page-address.ts'
import { useEvent } from '../data/live.ts'
import { belongsTo } from './new-calls.ts'

/** How many calls have come since a list was asked for. */
interface NewCount {
  readonly count: number
  /** There may be more: some were not told. */
  readonly isLeast: boolean
}

/** Counts the calls that were recorded since `answer` came and belong to its list. */
export function useNewCalls(
  address: PageAddress,
  answer: object | null,
  listed: readonly CallJson[],
): NewCount {
  const [count, setCount] = useState<NewCount>(none)
  const seen = useRef<ReadonlySet<string>>(new Set())
  useEffect(() => {
    seen.current = new Set(listed.map(({ id }) => id))
  }, [listed])
  useEffect(() => setCount(none), [answer])
  useEvent(
    'calls',
    ({ calls, skipped }) => {
      const added = (calls as readonly CallJson[]).filter(
        (call) => !seen.current.has(call.id) && belongsTo(call, address),
      ).length
      if (added === 0) return
      setCount((before) => ({ count: before.count + added, isLeast: before.isLeast || skipped > 0 }))
    },
    [address],
  )
  return count
}

const none: NewCount = { count: 0, isLeast: false }
