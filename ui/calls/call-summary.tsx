import type { JSX } from 'preact'
import { useNavigation } from '../data/navigation.tsx'
import { honest } from '../charts/small-sample.ts'
import type { CallsAnswer } from '../data/dashboard-api.ts'
import { count, counted, dollars, duration, percent, shortCount } from '../format/figures.ts'

export interface CallSummaryProps {
  readonly answer: CallsAnswer
  /** How many are listed so far. */
  readonly listed: number
}

/** How many calls there are of those that are listed, and what they come to. */
export function CallSummary({ answer, listed }: CallSummaryProps): JSX.Element {
  const { address } = useNavigation()
  const { summary } = answer
  const {
    calls,
    errors,
    error_rate: rate,
    cost_usd: cost,
    unpriced_calls: unpriced,
    duration_ms: spread,
  } = summary
  // Embeddings beside chats make every percentile a lie: they are told where calls are of one kind.
  const isOfOneKind = address.callTypes.length === 1 || address.models.length === 1
  const [p50, p95] = isOfOneKind
    ? [honest('p50', spread.p50, spread.n), honest('p95', spread.p95, spread.n)]
    : [null, null]
  const facts = [
    errors === 0
      ? 'none failed'
      : errors === calls
        ? 'all failed'
        : `${count(errors)} failed${rate === null ? '' : ` (${percent(rate)})`}`,
    ...(p50 === null ? [] : [`median ${duration(p50)}`]),
    ...(p95 === null ? [] : [`p95 ${duration(p95)}`]),
    ...(summary.total_tokens > 0
      ? [`${shortCount(summary.input_tokens)} tokens in, ${shortCount(summary.output_tokens)} out`]
      : []),
    ...(cost === null ? [] : [dollars(cost)]),
    ...(unpriced > 0 ? [`${count(unpriced)} without a price`] : []),
  ]
  return (
    <p class="calls-summary">
      <strong>
        {listed < calls ? `${count(listed)} of ${counted(calls, 'call')}` : counted(calls, 'call')}
      </strong>
      {calls > 0 && facts.map((fact) => <span key={fact}>{fact}</span>)}
    </p>
  )
}
