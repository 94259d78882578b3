import { useCallback, useRef, useState } from 'preact/hooks'
import type { CallJson } from '../../src/call/call-record.ts'
import { type CallsAnswer, ask } from '../data/dashboard-api.ts'
import { useRecordedCalls } from '../data/live.ts'
import type { PageAddress } from '../data/page-address.ts'
import { useAgainOnCalls } from '../data/use-again-on-calls.ts'
import type { CallList } from './use-call-list.ts'

/** True if a newly recorded call belongs to the list of an address, as far as the page can know. */
export function belongsTo(call: CallJson, address: PageAddress): boolean {
  const { range, models, callTypes, outcomes, failureCodes, clients, statuses, tags, minMs, maxMs, q } =
    address
  const callTags = call.tags?.split(',') ?? []
  const startedMs = Date.parse(call.started_at)
  return (
    (range.last !== null || (startedMs >= range.fromMs && startedMs < range.toMs)) &&
    isOneOf(models, call.model) &&
    isOneOf(callTypes, call.call_type) &&
    isOneOf(outcomes, call.outcome) &&
    isOneOf(failureCodes, call.failure_code) &&
    isOneOf(clients, call.client) &&
    isOneOf(address.upstreams, call.upstream_name) &&
    (address.source === null || address.source === call.source) &&
    (address.session === null || address.session === call.session) &&
    // For each key of a tag, one of the chosen values must match.
    [...Map.groupBy(tags, (tag) => tag.slice(0, tag.indexOf(':'))).values()].every((ofKey) =>
      ofKey.some((tag) => callTags.includes(tag)),
    ) &&
    isOneOf(statuses, call.status === null ? null : String(call.status)) &&
    (!address.errorsOnly || call.failed) &&
    (minMs === null || (call.duration_ms !== null && call.duration_ms >= minMs)) &&
    (maxMs === null || (call.duration_ms !== null && call.duration_ms <= maxMs)) &&
    (q === '' || [call.id, call.failure_code, call.upstream_error_code, call.trace_id].includes(q))
  )
}

function isOneOf(chosen: readonly string[], value: string | null): boolean {
  return chosen.length === 0 || (value !== null && chosen.includes(value))
}

/** No new calls; `isLeast` is true if there may be more than `count`. */
const none = { count: 0, isLeast: false }

/** Counts the calls of the list that were recorded after its answer. */
export function useNewCalls(
  address: PageAddress,
  { answer, path, calls: listed }: Pick<CallList, 'answer' | 'path' | 'calls'>,
): typeof none {
  const [arrived, setArrived] = useState({ ...none, answer })
  const shown = useRef({ answer, path, listed })
  shown.current = { answer, path, listed }
  /** The calls that were counted without an event, which may follow. */
  const counted = useRef<readonly CallJson[]>([])
  useRecordedCalls(
    ({ calls, skipped }) => {
      const { answer, listed } = shown.current
      const knownIds = new Set([...listed, ...counted.current].map(({ id }) => id))
      const newCalls = (calls as readonly CallJson[]).filter(
        (call) => !knownIds.has(call.id) && belongsTo(call, address),
      ).length
      if (newCalls === 0) return
      setArrived((before) => {
        const { count, isLeast } = before.answer === answer ? before : none
        return { answer, count: count + newCalls, isLeast: isLeast || skipped > 0 }
      })
    },
    [address],
  )
  const count = useCallback(() => {
    const { answer, path } = shown.current
    if (answer === null || path === null) return
    ask<CallsAnswer>(path).then(
      (now) => {
        counted.current = now.calls
        setArrived({ answer, count: Math.max(0, now.summary.calls - answer.summary.calls), isLeast: false })
      },
      () => undefined,
    )
  }, [])
  useAgainOnCalls(true, () => false, count)
  // The count of another list is never shown beside this one, not even in the first frame.
  return arrived.answer === answer ? arrived : none
}
