import { useMemo } from 'preact/hooks'
import { honest } from '../charts/small-sample.ts'
import { orderWords } from '../data/call-text.ts'
import { type UnpricedModel, unpricedWords } from '../data/free-calls.ts'
import { useNavigation } from '../data/navigation.tsx'
import { type NamedGroup, isFiltered } from '../data/page-address.ts'
import { refreshEveryMs } from '../data/page-range.ts'
import { useFreeCalls } from '../data/use-free-calls.ts'
import { useQuery } from '../data/use-query.ts'
import { MoreFailed } from '../design/more-failed.tsx'
import { count, counted, dollars, duration, percent } from '../format/figures.ts'
import { isNewestFirst, maxListed, pageSize, unpricedPath } from './calls-question.ts'
import type { ListedCalls } from './calls-list.tsx'
import type { CallList } from './use-call-list.ts'

/** Sums up all calls of the list. */
export function CallSummary({ list: { answer, calls: listed } }: { readonly list: CallList }) {
  const { address } = useNavigation()
  const unpriced = answer?.summary.unpriced_calls ?? 0
  const unpricedModels = useUnpricedModels(unpriced)
  const free = useFreeCalls(unpriced, unpricedModels ?? undefined)
  if (answer === null) return <></>
  const { summary } = answer
  const { calls, errors, error_rate: rate, cost_usd: cost, duration_ms: spread } = summary
  // Percentiles of embeddings and chats together mean nothing, so they are shown for calls of one type.
  const n = address.callTypes.length === 1 || address.models.length === 1 ? spread.n : 0
  const [p50, p95] = [honest('p50', spread.p50, n), honest('p95', spread.p95, n)]
  const failed = `${count(errors)} failed${rate === null ? '' : ` (${percent(rate)})`}`
  const facts = [
    errors === 0 ? 'none failed' : errors === calls ? 'all failed' : failed,
    p50 !== null && `median ${duration(p50)}`,
    p95 !== null && `p95 ${duration(p95)}`,
    summary.total_tokens > 0 &&
      `${count(summary.input_tokens)} tokens in, ${count(summary.output_tokens)} out`,
    cost !== null && dollars(cost),
    unpriced > 0 && unpricedWords(unpriced, unpricedModels && (free?.calls ?? null)),
  ].filter((fact) => fact !== false && fact !== '')
  return (
    <p class="calls-summary row wraps fine">
      <strong>
        {listed.length < calls && `${count(listed.length)} of `}
        {counted(calls, 'call')}
      </strong>
      {calls > 0 && facts.map((fact) => <span key={fact}>{fact}</span>)}
    </p>
  )
}

type ModelGroup = NamedGroup & Pick<UnpricedModel, 'unpriced_calls'>

const none: readonly UnpricedModel[] = []

/**
 * Returns the models of the unpriced calls; null while they are requested. Without filters, the prices of the range
 * tell enough, so none are requested.
 */
function useUnpricedModels(unpriced: number): readonly UnpricedModel[] | null {
  const { address } = useNavigation()
  const isAsked = unpriced > 0 && isFiltered({ ...address, models: [] })
  const { answer, error, isStale } = useQuery<{ readonly groups: readonly ModelGroup[] }>(
    isAsked ? (nowMs) => unpricedPath(address, nowMs) : null,
    { everyMs: refreshEveryMs(address.range) },
  )
  const groups = isAsked && !isStale ? answer?.groups : undefined
  const listed = useMemo(
    () =>
      groups
        ?.filter(({ rest }) => rest !== true)
        .map(({ key, unpriced_calls }) => ({ model: key, unpriced_calls })) ?? none,
    [groups],
  )
  return isAsked && isStale && error === null ? null : listed
}

/** The end of a list: more calls follow, an error prevents that, or all calls are listed. */
export function CallsFoot({ list }: { readonly list: ListedCalls }) {
  const {
    answer,
    calls,
    hasMore = false,
    isStale = false,
    moreError = null,
    loadMore = () => undefined,
  } = list
  const { address } = useNavigation()
  if (hasMore && moreError !== null) return <MoreFailed error={moreError} again={loadMore} />
  return <p class="list-foot row fine">{hasMore || isStale ? 'Loading more…' : endWords()}</p>

  function endWords(): string {
    const total = answer?.summary.calls ?? 0
    if (!isNewestFirst(address)) {
      return total > calls.length && calls.length >= pageSize
        ? `First ${count(calls.length)}, ${orderWords(address).toLowerCase()} first`
        : `End of list${answer?.resolution === undefined ? '' : ' · older calls are kept as totals only'}`
    }
    if (calls.length >= maxListed)
      return `Lists show at most ${count(maxListed)} calls. Narrow the range, or export.`
    if (total > calls.length && answer?.resolution !== undefined) {
      return `${counted(total - calls.length, 'older call')} kept as totals only`
    }
    return `${counted(calls.length, 'call')} · end of list`
  }
}
