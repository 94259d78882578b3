import type { ComponentChildren } from 'preact'
import type { CallsAnswer } from '../data/dashboard-api.ts'
import { useNavigation } from '../data/navigation.tsx'
import { isFiltered, withoutFilters } from '../data/page-address.ts'
import { Card } from '../design/card.tsx'
import { lazyPart } from '../design/lazy-part.tsx'
import { EmptyState } from '../design/empty-state.tsx'
import { ActionLink } from '../design/folded-time.tsx'
import { counted } from '../format/figures.ts'

/** Instructions for the first call, in place of a view's content. */
const FirstCallGuide = lazyPart(async () => (await import('./first-call.tsx')).FirstCallGuide)

/** An answer without calls. */
interface EmptyAnswer extends Pick<CallsAnswer, 'available_types' | 'store' | 'note' | 'resolution'> {
  readonly summary?: Pick<CallsAnswer['summary'], 'calls'>
}

/** The text in place of figures: the reason that there are no calls, and the next step. */
export function NoCallsCard({ answer }: { readonly answer: EmptyAnswer }) {
  const { title, why, ways } = useReason(answer)
  return (
    <Card title={title} class="no-calls-card">
      {typeof why === 'string' ? <p class="quiet">{why}</p> : why}
      {ways !== undefined && <p class="buttons row wraps">{ways}</p>}
    </Card>
  )
}

/** The text in place of a list: the reason that it is empty, and the next step. */
export function NoCalls({ answer }: { readonly answer: EmptyAnswer }) {
  const { title, why, ways } = useReason(answer)
  return (
    <EmptyState title={title} actions={ways}>
      {why}
    </EmptyState>
  )
}

interface Reason {
  readonly title: string
  readonly why: ComponentChildren
  readonly ways?: ComponentChildren
}

function useReason({ available_types: types, store, note, summary, resolution }: EmptyAnswer): Reason {
  const { address } = useNavigation()
  if (store !== undefined && store !== 'missing' && store !== 'empty') {
    return { title: 'Could not read the database', why: <p role="alert">{note}</p> }
  }
  // Without any known type, no call was ever recorded.
  if (types.length === 0) return { title: 'No calls yet', why: <FirstCallGuide /> }
  if (summary !== undefined && summary.calls > 0 && resolution !== undefined) {
    return {
      title: `${counted(summary.calls, 'call')} in this range ${summary.calls === 1 ? 'is' : 'are'} kept as totals only`,
      why: 'Older calls are rolled up to save space. Overview still has their figures.',
      ways: <ActionLink to={{ view: 'overview', call: null, sort: 'started_at' }} words="Open Overview" />,
    }
  }
  const hasFilters = isFiltered(address)
  return {
    title: hasFilters ? 'No calls match' : 'No calls in this range',
    why:
      address.q !== ''
        ? 'No call in this range has exactly this ID, error code or trace.'
        : hasFilters
          ? 'No call in this range matches all filters.'
          : 'Try another time range.',
    ways: (
      <>
        {hasFilters && <ActionLink to={{ ...withoutFilters(address), ignored: [] }} words="Clear filters" />}
        {address.range.last !== '30d' && <ActionLink to={{ range: { last: '30d' } }} words="Last 30 days" />}
      </>
    ),
  }
}
