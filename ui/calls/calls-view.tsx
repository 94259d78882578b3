import { useMemo, useRef } from 'preact/hooks'
import { CallPanel } from '../call/call-panel.tsx'
import { useCallPanel } from '../call/use-call-panel.ts'
import { WaterfallLegend } from '../call/waterfall.tsx'
import { useNavigation } from '../data/navigation.tsx'
import { Icon } from '../design/icon.tsx'
import { useObservable } from '../data/observable.ts'
import { useMedia, useWidth } from '../design/use-window.ts'
import { FilterBar } from '../filters/filter-bar.tsx'
import { counted } from '../format/figures.ts'
import { CallSummary } from './call-summary.tsx'
import { CallsCards, CallsTable } from './calls-list.tsx'
import { CallsTools, keptColumns } from './calls-tools.tsx'
import { fittingColumns } from './chosen-columns.ts'
import { Refusal } from '../empty-states/no-calls.tsx'
import { NoCalls } from './no-calls.tsx'
import { useCallList } from './use-call-list.ts'
import { useNewCalls } from './new-calls.ts'
import { VolumeStrip } from './volume-strip.tsx'

/** Lists the calls that the address means, and opens one of them in a panel. */
export function CallsView() {
  const { address } = useNavigation()
  const list = useCallList(address)
  const { answer, calls, isStale, isLoading, error, again } = list
  const panel = useCallPanel(calls, list.loadMore)
  const isNarrow = useMedia('(width < 40rem)')
  const fresh = useNewCalls(address, answer, calls)
  const card = useRef<HTMLElement>(null)
  const widthRem = useWidth(card) / remPx()
  const fitting = useMemo(() => fittingColumns(widthRem), [widthRem])
  const columns = useObservable(keptColumns) ?? fitting
  // The query failed; a shown answer belongs to an earlier query.
  const isRefused = error !== null && !isLoading && (answer === null || isStale)

  const total = answer === null || isStale ? null : answer.summary.calls

  return (
    <>
      {/* If there is no list, its place says why. */}
      <FilterBar query={isRefused ? { ...list, error: null } : list} />
      <section class="card call-list" ref={card} aria-label="Calls">
        <VolumeStrip answer={answer} />
        <CallsTools isNarrow={isNarrow} columns={columns} total={total} />
        <div class="calls-told row wraps">
          {answer === null ? (
            <span class="quiet">{isRefused ? '' : 'Loading…'}</span>
          ) : (
            <CallSummary list={list} />
          )}
          <span class="aside" role="status">
            {fresh.count > 0 && 'New calls have arrived.'}
          </span>
          <WaterfallLegend />
          {fresh.count > 0 && (
            <button type="button" class="news-pill over-list" onClick={again}>
              <Icon name="up" size={14} />
              {counted(fresh.count, 'new call')}
              {fresh.isLeast && ' or more'}
            </button>
          )}
        </div>
        {isRefused ? (
          <Refusal what="the calls" query={list} />
        ) : answer === null ? (
          <div class="skeleton" style={{ height: '30rem' }} />
        ) : calls.length === 0 ? (
          <NoCalls answer={answer} />
        ) : isNarrow ? (
          <CallsCards list={list} onOpen={panel.open} />
        ) : (
          <CallsTable list={list} columns={columns} onOpen={panel.open} />
        )}
      </section>
      {address.call !== null && <CallPanel id={address.call} listed={panel.call} {...panel.moves} />}
    </>
  )
}

function remPx(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
}
