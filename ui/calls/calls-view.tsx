import './calls-view.css'
import type { JSX } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useNavigation } from '../data/navigation.tsx'
import type { ViewProps } from '../data/view-props.ts'
import { Icon } from '../design/icon.tsx'
import { FilterBar } from '../filters/filter-bar.tsx'
import { counted } from '../format/figures.ts'
import { CallPanel } from '../call/call-panel.tsx'
import { CallSearch } from './call-search.tsx'
import { CallSummary } from './call-summary.tsx'
import { CallsCards } from './calls-cards.tsx'
import { CallsFoot } from './calls-foot.tsx'
import { CallsTable } from './calls-table.tsx'
import { barScaleMs } from '../call/call-phases.ts'
import { type ColumnName, fittingColumns, keepColumns, readColumns } from './chosen-columns.ts'
import { ColumnsMenu } from './columns-menu.tsx'
import { ExportMenu } from './export-menu.tsx'
import { FacetMenu } from './facet-menu.tsx'
import { NoCalls, NoList } from './no-calls.tsx'
import { SortChoice } from './sort-choice.tsx'
import { useCallList } from './use-call-list.ts'
import { useCallPanel } from '../call/use-call-panel.ts'
import { useCallVolume } from './use-call-volume.ts'
import { VolumeStrip } from './volume-strip.tsx'
import { useMedia } from '../design/use-media.ts'
import { useNewCalls } from './use-new-calls.ts'
import { WaterfallLegend } from '../call/waterfall.tsx'

/** Which calls exactly: a list of those that the address means, and the panel of one of them. */
export function CallsView({ times }: ViewProps): JSX.Element {
  const { address, go } = useNavigation()
  const list = useCallList(address)
  const { answer, calls, isStale, isLoading, trouble, troubleCode, answeredMs, again } = list
  const volume = useCallVolume(times.zone, answer)
  const panel = useCallPanel()
  const isNarrow = useMedia('(max-width: 47.99rem)')
  const fresh = useNewCalls(address, answer, calls)
  const card = useRef<HTMLElement>(null)
  const widthRem = useWidthRem(card)
  const [ownColumns, setOwnColumns] = useState(readColumns)
  const fitting = useMemo(() => fittingColumns(widthRem), [widthRem])
  const columns = ownColumns ?? fitting
  const scaleMs = useMemo(() => barScaleMs(answer?.calls ?? []), [answer])
  const openIndex = address.call === null ? -1 : calls.findIndex(({ id }) => id === address.call)
  const move = (step: 1 | -1): void => {
    const next = calls[openIndex + step]
    if (next !== undefined) panel.moveTo(next.id)
    else if (step === 1) list.loadMore()
  }
  const chooseColumns = (chosen: readonly ColumnName[] | null): void => {
    keepColumns(chosen)
    setOwnColumns(chosen)
  }
  // What was there before belongs to another question, and this one has come to nothing.
  const isRefused = trouble !== null && !isLoading && (answer === null || isStale)
  const total = answer === null ? null : address.sort === 'started_at' ? answer.summary.calls : calls.length
  const shown = {
    calls,
    total,
    scaleMs,
    times,
    nowMs: answeredMs ?? 0,
    isStale,
    onOpen: panel.open,
    onNearEnd: list.comeNear,
    foot: <CallsFoot list={list} />,
  }

  return (
    <>
      <FilterBar
        times={times}
        models={answer?.available_models ?? []}
        types={answer?.available_types ?? []}
        answeredMs={answeredMs}
        isLoading={isLoading}
        // Where there is no list, its place says why.
        trouble={isRefused ? null : trouble}
        again={again}
      />
      <section class="card call-list" ref={card} aria-label="Calls">
        <VolumeStrip
          volume={volume}
          times={times}
          onZoom={(fromMs, toMs) => go({ range: { last: null, fromMs, toMs } })}
        />
        <div class="calls-tools">
          <CallSearch onOpen={panel.open} />
          <FacetMenu facet="client" />
          <FacetMenu facet="failure_code" />
          <SortChoice isNarrow={isNarrow} />
          <div class="at-end">
            {!isNarrow && (
              <ColumnsMenu columns={columns} isOwnChoice={ownColumns !== null} onChoose={chooseColumns} />
            )}
            <ExportMenu />
          </div>
        </div>
        <div class="calls-told">
          {answer === null ? (
            <span class="quiet">{isRefused ? '' : 'Loading…'}</span>
          ) : (
            <CallSummary answer={answer} listed={calls.length} />
          )}
          <span class="aside" role="status">
            {fresh.count > 0 && 'New calls have come in.'}
          </span>
          <WaterfallLegend />
          {fresh.count > 0 && (
            <button type="button" class="new-calls" onClick={again}>
              <Icon name="up" size={14} />
              {counted(fresh.count, 'new call')}
              {fresh.isLeast && ' or more'}
            </button>
          )}
        </div>
        {isRefused ? (
          <NoList trouble={trouble} troubleCode={troubleCode} again={again} />
        ) : answer === null ? (
          <Skeleton />
        ) : calls.length === 0 ? (
          <NoCalls answer={answer} />
        ) : isNarrow ? (
          <CallsCards {...shown} />
        ) : (
          <CallsTable {...shown} columns={columns} />
        )}
      </section>
      {address.call !== null && (
        <CallPanel
          id={address.call}
          times={times}
          listed={calls[openIndex]}
          onClose={panel.close}
          {...(openIndex < 0 ? {} : { onMove: move })}
        />
      )}
    </>
  )
}

function Skeleton(): JSX.Element {
  return (
    <div class="calls-skeleton" aria-hidden="true">
      {Array.from({ length: 12 }, (_, index) => (
        <div key={index} class="skeleton" />
      ))}
    </div>
  )
}

/** How wide an element is, as it changes. */
function useWidthRem(element: { readonly current: HTMLElement | null }): number {
  const [widthRem, setWidthRem] = useState(0)
  useLayoutEffect(() => {
    const { current } = element
    if (current === null) return
    const remPx = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
    const measure = (): void => setWidthRem(current.clientWidth / remPx)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(current)
    return () => observer.disconnect()
  }, [])
  return widthRem
}
