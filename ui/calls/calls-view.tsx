import { useRef } from 'preact/hooks'
import { CallPanel } from '../call/call-panel.tsx'
import { useCallPanel } from '../call/use-call-panel.ts'
import { WaterfallLegend } from '../call/waterfall.tsx'
import { useNavigation } from '../data/navigation.tsx'
import { Icon } from '../design/icon.tsx'
import { FilterBar } from '../filters/filter-bar.tsx'
import { counted } from '../format/figures.ts'
import { CallSummary } from './call-summary.tsx'
import { useCallsLayout } from './calls-layout.ts'
import { CallsList } from './calls-list.tsx'
import { CallsTools } from './calls-tools.tsx'
import { Awaited } from '../design/awaited.tsx'
import { NoCalls } from '../empty-states/no-calls.tsx'
import { useCallList } from './use-call-list.ts'
import { useNewCalls } from './new-calls.ts'
import { VolumeStrip, useCallVolume } from './volume-strip.tsx'

/** The view that lists the calls of the address, and opens one of them in a panel. */
export function CallsView() {
  const { address } = useNavigation()
  const list = useCallList(address)
  const volume = useCallVolume()
  const { answer, calls, isStale, isRefused } = list
  const again = (): void => {
    list.again()
    volume.again()
  }
  const panel = useCallPanel(calls, list.loadMore)
  const fresh = useNewCalls(address, list)
  const card = useRef<HTMLElement>(null)
  const layout = useCallsLayout(card)
  const total = answer === null || isStale ? null : answer.summary.calls

  return (
    <>
      {/* If the list failed, its place shows the reason. */}
      <FilterBar query={{ ...list, again, ...(isRefused && { error: null }) }} />
      <section class="card call-list" ref={card} aria-label="Calls">
        <VolumeStrip query={volume} />
        <CallsTools {...layout} total={total} />
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
        {answer === null || isRefused ? (
          <Awaited what="the calls" {...list} again={again} height="30rem" />
        ) : calls.length === 0 ? (
          <NoCalls answer={answer} />
        ) : (
          <CallsList {...layout} list={list} onOpen={panel.open} />
        )}
      </section>
      {address.call !== null && <CallPanel id={address.call} listed={panel.call} {...panel.moves} />}
    </>
  )
}
