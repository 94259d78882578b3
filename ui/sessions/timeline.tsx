import type { HTMLAttributes } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { BarPieces, WaterfallLegend } from '../call/waterfall.tsx'
import { endWords } from '../data/failure-text.ts'
import { useTimes } from '../data/navigation.tsx'
import { Observable } from '../data/observable.ts'
import { Button } from '../design/button.tsx'
import { StateMark } from '../design/icon.tsx'
import { useWidth } from '../design/use-window.ts'
import { count, counted, dollars, duration, orDash } from '../format/figures.ts'
import { shownText } from '../payloads/shown-text.ts'
import { type CourseBar, type SessionCourse, type TimelineView, barsOf, pieceAt } from './session-course.ts'
import { axisSigns, axisTimes, drawnGaps } from './timeline-drawing.ts'
import { TimelineLines } from './timeline-lines.tsx'

/** The height of a lane. */
const lanePx = 20
/** A press that moves less than this is a click. */
const dragPx = 5
/** The width drawn beside the visible part. When half of it is scrolled away, the part is drawn again. */
const besidePx = 600
const mostZoom = 1024

export interface TimelineProps {
  readonly course: SessionCourse
  readonly openId: string | null
  readonly onOpen: (id: string) => void
}

/** The calls of a session on one axis, the gaps between them, and the course of prompt, cache and cost. */
export function Timeline({ course, openId, onOpen }: TimelineProps) {
  const box = useRef<HTMLDivElement>(null)
  const widthPx = useWidth(box)
  const [zoom, setZoom] = useState(1)
  const [scrollPx, setScrollPx] = useState(0)
  /** The place of the axis to put in the middle after a zoom; null otherwise. */
  const middle = useRef<number | null>(null)
  const axisPx = Math.max(1, (widthPx - 2) * zoom)
  const zoomTo = (next: number, place?: number): void => {
    const { current } = box
    if (current === null) return
    middle.current = place ?? (current.scrollLeft + widthPx / 2) / axisPx
    setZoom(Math.min(mostZoom, Math.max(1, next)))
  }
  const placeUnder = (clientX: number): number => {
    const { scrollLeft = 0 } = box.current ?? {}
    return (clientX - (box.current?.getBoundingClientRect().left ?? 0) + scrollLeft) / axisPx
  }
  const pointed = useMemo(() => new Observable<number | null>(null), [])
  const marked = useRef<HTMLDivElement>(null)
  const press = useRef<{ readonly place: number; isDrag: boolean } | null>(null)
  const handlers: HTMLAttributes<HTMLDivElement> = {
    onPointerDown: (event) => {
      if (event.button !== 0 || event.pointerType === 'touch') return
      press.current = { place: placeUnder(event.clientX), isDrag: false }
    },
    onPointerMove: (event) => {
      const place = placeUnder(event.clientX)
      pointed.set(pieceAt(course, place))
      const start = press.current
      if (start === null) return
      // The button was released outside the page.
      if (event.buttons === 0) return letGo()
      if (!start.isDrag && Math.abs(place - start.place) * axisPx < dragPx) return
      // From now on, the press does not belong to the bar below.
      if (!start.isDrag) event.currentTarget.setPointerCapture(event.pointerId)
      start.isDrag = true
      // The mark is moved without a render, like the crosshair of all plots.
      if (marked.current !== null) {
        marked.current.hidden = false
        marked.current.style.left = `${Math.min(start.place, place) * axisPx}px`
        marked.current.style.width = `${Math.abs(place - start.place) * axisPx}px`
      }
    },
    onPointerUp: (event) => {
      const start = press.current
      letGo()
      if (start?.isDrag !== true) return
      const place = Math.min(1, Math.max(0, placeUnder(event.clientX)))
      const share = Math.max(Math.abs(place - start.place), 1 / axisPx)
      zoomTo(1 / share, (place + start.place) / 2)
    },
    onPointerCancel: () => letGo(),
    onPointerLeave: () => pointed.set(null),
    onDblClick: ({ target }) => {
      if ((target as Element).closest('.timeline-bar') === null) zoomTo(1)
    },
  }
  const letGo = (): void => {
    press.current = null
    if (marked.current !== null) marked.current.hidden = true
  }
  useLayoutEffect(() => {
    if (box.current === null || middle.current === null) return
    box.current.scrollLeft = middle.current * axisPx - widthPx / 2
    setScrollPx(box.current.scrollLeft)
    middle.current = null
  }, [zoom])
  const view: TimelineView = {
    ...course,
    axisPx,
    fromPx: scrollPx - besidePx,
    toPx: scrollPx + widthPx + besidePx,
    pxOf: (ms) => course.placeOf(ms) * axisPx,
  }
  return (
    <section class="card timeline clips" aria-labelledby="timeline-title">
      <div class="card-bar row wraps">
        <h2 id="timeline-title">Timeline</h2>
        <WaterfallLegend />
        <ul class="waterfall-legend row wraps finest">
          {course.pieces.some(({ call }) => call.failed) && (
            <li class="bad">
              <StateMark shape="cross" /> Failed
            </li>
          )}
          {course.pieces.some(({ prefixBreak }) => prefixBreak !== null) && (
            <li class="notice" title="Less of the prompt was cached than before, although the prompt grew.">
              <StateMark shape="triangle" /> Cache break
            </li>
          )}
        </ul>
        <div class="timeline-zoom row at-end">
          <Button small isOff={zoom <= 1} label="Zoom out" onClick={() => zoomTo(zoom / 2)}>
            −
          </Button>
          <span class="fine">{zoom === 1 ? 'All' : `${Number(zoom.toFixed(zoom < 10 ? 1 : 0))}×`}</span>
          <Button small isOff={zoom >= mostZoom} label="Zoom in" onClick={() => zoomTo(zoom * 2)}>
            +
          </Button>
        </div>
      </div>
      <div
        ref={box}
        class="timeline-scroller"
        tabIndex={zoom > 1 ? 0 : undefined}
        role="group"
        aria-label={`${counted(course.pieces.length, 'call')} in ${duration(course.lengthMs)}, listed below`}
        onScroll={({ currentTarget: { scrollLeft } }) => {
          if (Math.abs(scrollLeft - scrollPx) > besidePx / 2) setScrollPx(scrollLeft)
        }}
      >
        {widthPx > 0 && (
          <div class="timeline-axis" style={{ width: `${axisPx}px` }} aria-hidden="true" {...handlers}>
            <Marks view={view} />
            <Bars
              view={view}
              openId={openId}
              onPress={(bar, clientX) =>
                bar.calls === 1 || zoom >= mostZoom
                  ? onOpen(bar.piece.call.id)
                  : zoomTo(zoom * 4, placeUnder(clientX))
              }
            />
            {course.gaps.length > 0 && <Gaps view={view} />}
            <TimelineLines view={view} pointed={pointed} />
            <div ref={marked} class="timeline-selected chosen-span" hidden />
          </div>
        )}
      </div>
    </section>
  )
}

interface PartProps {
  readonly view: TimelineView
}

/** Round times, and above the calls the signs of cache breaks and failures. */
function Marks({ view }: PartProps) {
  const times = useTimes()
  const { beganMs } = view
  return (
    <>
      <div class="timeline-times finest">
        {axisTimes(view, times).map(({ px, ms, isNewDay }) => (
          <span key={px} class={isNewDay ? 'is-new-day' : ''} style={{ left: `${px}px` }}>
            {isNewDay ? times.dayAndClock(beganMs + ms) : times.seconds(beganMs + ms)}
          </span>
        ))}
      </div>
      <div class="timeline-signs">
        {axisSigns(view).map(({ px, kind, words }) => (
          <span
            key={`${kind} ${px}`}
            class={`sign-${kind} ${kind === 'break' ? 'notice' : 'bad'}`}
            style={{ left: `${px}px` }}
            title={words}
          >
            <StateMark shape={kind === 'break' ? 'triangle' : 'cross'} />
          </span>
        ))}
      </div>
    </>
  )
}

interface BarsProps extends PartProps {
  readonly openId: string | null
  readonly onPress: (bar: CourseBar, clientX: number) => void
}

function Bars({ view, openId, onPress }: BarsProps) {
  return (
    <div class="timeline-lanes" style={{ height: `${view.lanes * lanePx + 4}px` }}>
      {barsOf(view).map((bar) => {
        const { piece, leftPx, widthPx, calls, failed } = bar
        const { call, lane } = piece
        return (
          <span
            key={call.id}
            class={`timeline-bar ${failed ? 'is-failed' : ''} ${calls > 1 ? 'is-crowd' : ''} ${call.id === openId ? 'is-open' : ''}`}
            style={{ left: `${leftPx}px`, width: `${widthPx}px`, top: `${lane * lanePx + 4}px` }}
            title={calls > 1 ? `${counted(calls, 'call')}: zoom in` : barWords(bar)}
            onClick={({ clientX }) => onPress(bar, clientX)}
          >
            {calls === 1 && <BarPieces call={call} scaleMs={Math.max(1, piece.endMs - piece.startMs)} />}
          </span>
        )
      })}
    </div>
  )
}

/** Returns the tooltip of a bar. */
function barWords({ piece: { call, prefixBreak } }: CourseBar): string {
  const { input_tokens: input, cached_input_tokens: cached, output_tokens: output } = call
  return [
    call.model === null ? '' : shownText(call.model),
    call.outcome === 'ok' ? '' : endWords(call),
    `${orDash(call.duration_ms, duration)}, first token ${orDash(call.ttft_ms, duration)}`,
    input === null
      ? ''
      : `${count(input)} tokens in, ${orDash(cached, count)} cached, ${orDash(output, count)} out`,
    call.cost_usd === null ? '' : dollars(call.cost_usd),
    call.tools === null ? '' : `tools: ${shownText(call.tools.replaceAll(',', ', '))}`,
    prefixBreak === null ? '' : 'cache break',
  ]
    .filter((words) => words !== '')
    .join('\n')
}

/** The gaps between calls, with their tools and lengths. */
function Gaps({ view }: PartProps) {
  return (
    <div class="timeline-gaps">
      {drawnGaps(view).map(({ gap: { startMs, endMs, tools, isCut }, leftPx, widthPx, roomPx, hasWords }) => {
        const names = tools.map(shownText).join(', ')
        const length = duration(endMs - startMs)
        return (
          <span
            key={startMs}
            class={`timeline-gap ${isCut ? 'is-cut' : ''}`}
            style={{ left: `${leftPx}px`, width: `${roomPx}px` }}
            title={`${length} between calls${names === '' ? '' : `, after ${names}`}${isCut ? '; drawn shortened' : ''}`}
          >
            <i style={{ width: `${widthPx}px` }} />
            {hasWords && (
              <>
                {names !== '' && <strong class="cut">{names}</strong>}
                <span class={`cut ${isCut ? '' : 'quiet'}`}>{isCut ? `${length} (shortened)` : length}</span>
              </>
            )}
          </span>
        )
      })}
    </div>
  )
}
