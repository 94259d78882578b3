import './call.css'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { OverviewCall } from '../../src/api/overview.ts'
import type { SingleCall } from '../../src/api/single-call.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import { type CallTab, callTabWords } from '../data/call-text.ts'
import { failureSentence } from '../data/failure-text.ts'
import { useNavigation, useTimes } from '../data/navigation.tsx'
import { useQuery } from '../data/use-query.ts'
import { Awaited } from '../design/awaited.tsx'
import { Button } from '../design/button.tsx'
import { CopyButton } from '../design/copy-button.tsx'
import { DescriptionList } from '../design/description-list.tsx'
import { useShortcuts } from '../design/keys.ts'
import { lazyPart } from '../design/lazy-part.tsx'
import { Banner } from '../design/banner.tsx'
import { EmptyState } from '../design/empty-state.tsx'
import { Segments } from '../design/form/segments.tsx'
import { useTick } from '../design/use-tick.ts'
import { useMedia } from '../design/use-window.ts'
import { count, duration, dollars, orDash, speed, pair } from '../format/figures.ts'
import type { LiveCall } from '../payloads/live-call.ts'
import { CallPrice } from './call-price.tsx'
import { CallTag } from './call-tag.tsx'
import { CallTiming } from './call-timing.tsx'

const CallFacts = lazyPart(async () => (await import('./call-facts.tsx')).CallFacts)
const PayloadTab = lazyPart(async () => (await import('../payloads/payload-tab.tsx')).PayloadTab)

const allTabs = Object.keys(callTabWords) as CallTab[]
/** The time in which an ended call is recorded, and the interval of requests until then. */
const recordedMs = 2000

export interface CallPanelProps {
  readonly id: string
  readonly onClose: () => void
  /** Shows the next (1) or previous (−1) call of the list. */
  readonly onMove?: (step: 1 | -1) => void
  /** The call as the list has it. */
  readonly listed?: CallJson | OverviewCall | undefined
  /** The call from the Live view; it may still be in progress. */
  readonly liveCall?: LiveCall | undefined
}

/** The panel of a call, to the right of a list that stays usable. On a phone it covers the whole page. */
export function CallPanel({ id, onClose, onMove, listed, liveCall }: CallPanelProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const title = useRef<HTMLHeadingElement>(null)
  const body = useRef<HTMLDivElement>(null)
  const isModal = useMedia('(width < 40rem)')
  const lastId = useRef(id)
  lastId.current = id
  useLayoutEffect(() => {
    const { current: panel } = dialog
    const { activeElement: before } = document
    // A popover is in the top layer, so the view's styles do not move it.
    if (isModal) panel?.showModal()
    else panel?.showPopover()
    title.current?.focus()
    return () => {
      const hadFocus = panel?.contains(document.activeElement) === true
      if (isModal) panel?.close()
      else panel?.hidePopover()
      if (!hadFocus) return
      // The panel may already show another call of the list.
      const row = document.querySelector<HTMLElement>(`[data-id="${lastId.current}"]`)
      const last = row ?? before
      if (last instanceof HTMLElement) last.focus({ preventScroll: true })
    }
  }, [isModal])
  const { address, replace } = useNavigation()
  const times = useTimes()
  const { tab } = address
  useEffect(() => body.current?.scrollTo(0, 0), [id, tab])

  const isUnderWay = liveCall?.isUnderWay ?? false
  const endedMs = liveCall === undefined || liveCall.isLost ? 0 : liveCall.endHeardMs
  const canBeRecorded = endedMs !== null && Date.now() - endedMs >= recordedMs
  useTick(endedMs !== null && !canBeRecorded)
  const query = useQuery<SingleCall>(canBeRecorded ? `/api/calls/${id}` : null, {
    everyMs: (answer) => (liveCall === undefined || answer?.id === id ? null : recordedMs),
  })
  const { answer, failure } = query
  const full = answer?.id === id ? answer : null
  const brief = full ?? (listed?.id === id ? listed : null)
  const startedMs = brief === null ? (liveCall?.startedMs ?? null) : Date.parse(brief.started_at)
  const ended = brief ?? liveCall?.ended ?? null
  const tabs = allTabs.filter((tab) => tab !== 'error' || (ended !== null && ended.outcome !== 'ok'))
  const shown = tabs.includes(tab) ? tab : 'timing'
  const byTab = (words: (tab: CallTab, at: number) => string): Record<CallTab, string> =>
    Object.fromEntries(tabs.map((tab, at) => [tab, words(tab, at)])) as Record<CallTab, string>
  const moves = onMove && [
    { key: 'j', words: 'Next call', run: () => onMove(1) },
    { key: 'k', words: 'Previous call', run: () => onMove(-1) },
  ]
  const keys = tabs.map((tab, at) => ({
    key: String(at + 1),
    words: callTabWords[tab],
    run: () => replace({ tab }),
  }))
  // Browsers close only modal dialogs by Escape.
  const escape = isModal ? [] : [{ key: 'Escape', words: 'Close', run: onClose }]
  useShortcuts('Call panel', [...(moves ?? []), ...keys, ...escape], isModal)
  const isUnknown = full === null && failure?.code === 'call_not_found'

  return (
    <dialog
      ref={dialog}
      class="call-panel"
      popover="manual"
      aria-labelledby="call-panel-title"
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
    >
      <header class="panel-head row wraps">
        <div class="panel-title">
          <h2
            id="call-panel-title"
            class="title"
            ref={title}
            tabIndex={-1}
            aria-live="polite"
            onKeyDown={(event) => {
              const step = { ArrowDown: 1, ArrowUp: -1 }[event.key] as 1 | -1 | undefined
              if (step === undefined || onMove === undefined) return
              event.preventDefault()
              onMove(step)
            }}
          >
            {brief === null ? (liveCall?.model ?? liveCall?.path ?? 'Call') : (brief.model ?? brief.endpoint)}
          </h2>
          <p class="fine row wraps">
            {ended !== null && <CallTag call={ended} />}
            {isUnderWay && <span class="tag accent">In progress</span>}
            {startedMs !== null && <time title={times.inUtc(startedMs)}>{times.full(startedMs)}</time>}
            <span>
              <code>{id}</code>
              <CopyButton text={id} what="the call ID" />
            </span>
          </p>
        </div>
        <div class="panel-actions row">
          {onMove !== undefined && (
            <>
              <Button kind="bare" small onClick={() => onMove(-1)}>
                Prev <kbd>k</kbd>
              </Button>
              <Button kind="bare" small onClick={() => onMove(1)}>
                Next <kbd>j</kbd>
              </Button>
            </>
          )}
          <CopyButton text={() => location.href} what="a link to this call" words="Copy link" />
          <Button kind="bare" icon="close" label="Close" title="Close (Esc)" onClick={onClose} />
        </div>
      </header>
      <Segments
        class="call-tabs"
        label="Call details"
        words={byTab((tab) => callTabWords[tab])}
        titles={byTab((_, at) => `Key ${at + 1}`)}
        chosen={shown}
        onChoose={(tab) => replace({ tab })}
      />
      <div class="panel-body stack" ref={body}>
        {shown !== 'timing' && <PayloadTab id={id} tab={shown} call={full} liveCall={liveCall ?? null} />}
        {shown === 'timing' && (
          <>
            {brief !== null && <Brief call={brief} />}
            {full !== null && <CallFacts call={full} />}
            {isUnderWay && <p class="quiet">Timing is available once the call has ended.</p>}
            {full === null && !isUnderWay && !isUnknown && (
              <Awaited what="the call" {...query} height="16rem" />
            )}
            {isUnknown && (
              <EmptyState title={`No call with this ID is recorded${liveCall === undefined ? '' : ' yet'}`}>
                {liveCall === undefined &&
                  'It may have been rolled up into totals, or be in another gateway’s database.'}
              </EmptyState>
            )}
          </>
        )}
      </div>
    </dialog>
  )
}

/** Messages of the gateway that the sentence above them says, too. */
const saidAlready: ReadonlySet<string> = new Set(['The client left.', 'This call was cancelled.'])

/** The facts that every list also has: outcome, figures and times. */
function Brief({ call }: { readonly call: CallJson | OverviewCall }) {
  const wrong = failureSentence(call)
  const details: Partial<CallJson> = 'usage_source' in call ? call : {}
  return (
    <>
      <DescriptionList
        class="panel-facts named-figures"
        facts={[
          ['Total', orDash(call.duration_ms, duration)],
          ['Tokens in / out', pair(call.input_tokens, call.output_tokens, count)],
          [
            'Cost',
            <>
              {orDash(call.cost_usd, dollars)}
              <CallPrice call={details} costUsd={call.cost_usd} />
            </>,
          ],
          ['Speed', orDash(details.output_tokens_per_s, (perS) => `${speed(perS)} tok/s`)],
        ]}
      />
      {wrong !== null && (
        <Banner class="panel-wrong" {...(call.failed ? { tone: 'bad' } : {})}>
          <p>{wrong}</p>
          {typeof details.error_message === 'string' && !saidAlready.has(details.error_message) && (
            <q>{details.error_message}</q>
          )}
          {typeof details.upstream_error_code === 'string' && (
            <p>
              Error code: <code>{details.upstream_error_code}</code>
            </p>
          )}
        </Banner>
      )}
      <section>
        <h3>Timing</h3>
        <CallTiming call={call} />
      </section>
    </>
  )
}
