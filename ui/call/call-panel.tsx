import './call-panel.css'
import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'
import type { OverviewCall } from '../../src/api/overview.ts'
import type { CallJson } from '../../src/call/call-reader.ts'
import { useNavigation } from '../data/navigation.tsx'
import { useAnswer } from '../data/use-answer.ts'
import { CopyButton } from '../design/copy-button.tsx'
import { Icon } from '../design/icon.tsx'
import { count, duration, exactDollars, known, speed } from '../format/figures.ts'
import type { Times } from '../format/times.ts'
import { useShortcuts } from '../design/keys.ts'
import { lazyPart } from '../design/lazy-part.tsx'
import type { FedCall } from '../payloads/fed-call.ts'
import { CallFacts } from './call-facts.tsx'
import { CallPrice } from './call-price.tsx'
import { CallTabs, tabsOf } from './call-tabs.tsx'
import { CallTag } from './call-tag.tsx'
import { CallTiming } from './call-timing.tsx'
import { type EndedCall, failureSentence, isFailure } from '../data/failure-words.ts'

const PayloadTab = lazyPart(async () => (await import('../payloads/payload-tab.tsx')).PayloadTab)

/** A call that was just heard to end is recorded within so long, and looked for anew so often where it is not. */
const recordedMs = 2000

export interface CallPanelProps {
  readonly id: string
  readonly times: Times
  readonly onClose: () => void
  /** To the next (1) or previous (−1) call of the list behind. */
  readonly onMove?: (step: 1 | -1) => void
  /** What the list behind knows of it already. */
  readonly listed?: CallJson | OverviewCall | undefined
  /** What the Live view has heard of it; it may be under way still. */
  readonly fed?: FedCall | undefined
}

/** One call, over the page at its right. */
export function CallPanel({ id, times, onClose, onMove, listed, fed }: CallPanelProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  const title = useRef<HTMLHeadingElement>(null)
  const body = useRef<HTMLDivElement>(null)
  useShortcuts(
    'Call panel',
    onMove === undefined
      ? []
      : [
          { key: 'j', words: 'Next call', run: () => onMove(1) },
          { key: 'k', words: 'Previous call', run: () => onMove(-1) },
        ],
    { isInDialog: true },
  )
  useLayoutEffect(() => {
    const shown = dialog.current
    shown?.showModal()
    title.current?.focus()
    // Closing gives the focus back, which taking it out of the page would not.
    return () => shown?.close()
  }, [])
  const { address, amend } = useNavigation()
  const { tab } = address
  useEffect(() => body.current?.scrollTo(0, 0), [id, tab])

  const path = `/api/calls/${id}`
  const isUnderWay = fed?.isUnderWay ?? false
  const [isRecorded, setRecorded] = useState(false)
  const canBeRecorded = useSince(fed === undefined || fed.isLost ? 0 : fed.endHeardMs, recordedMs)
  const asked = useAnswer<CallJson>(canBeRecorded ? path : null, () => path, {
    everyMs: fed === undefined || isRecorded ? null : recordedMs,
  })
  const { answer, trouble, troubleCode, again } = asked
  const full = answer?.id === id ? answer : null
  useEffect(() => setRecorded(full !== null), [full])
  const brief = full ?? (listed?.id === id ? listed : null)
  const startedMs = brief === null ? (fed?.startedMs ?? null) : Date.parse(brief.started_at)
  const ended = brief ?? endOf(fed)
  const tabs = tabsOf(ended)
  const shown = tabs.includes(tab) ? tab : 'timing'

  return (
    <dialog
      ref={dialog}
      class="call-panel"
      aria-labelledby="call-panel-title"
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => {
        // A press beside the panel is one on the dialog's backdrop.
        if (event.target === event.currentTarget) onClose()
      }}
    >
      <header class="panel-head">
        <div class="panel-title">
          <h2 id="call-panel-title" ref={title} tabIndex={-1} aria-live="polite">
            {brief === null ? (fed?.model ?? fed?.path ?? 'Call') : (brief.model ?? brief.endpoint)}
          </h2>
          <p>
            {ended !== null && <CallTag call={ended} />}
            {isUnderWay && <span class="tag accent">Under way</span>}
            {startedMs !== null && <time title={times.inUtc(startedMs)}>{times.full(startedMs)}</time>}
            <span>
              <code>{id}</code>
              <CopyButton text={id} what="the call’s id" />
            </span>
          </p>
        </div>
        <div class="panel-actions">
          {onMove !== undefined && (
            <>
              <button type="button" class="button bare small" onClick={() => onMove(-1)}>
                Prev <kbd>k</kbd>
              </button>
              <button type="button" class="button bare small" onClick={() => onMove(1)}>
                Next <kbd>j</kbd>
              </button>
            </>
          )}
          <CopyButton text={() => location.href} what="a link to this call" words="Copy link" />
          <button
            type="button"
            class="button bare icon"
            aria-label="Close"
            title="Close (Esc)"
            onClick={onClose}
          >
            <Icon name="close" />
          </button>
        </div>
      </header>
      <CallTabs tabs={tabs} chosen={shown} onChoose={(tab) => amend({ tab })} />
      <div class="panel-body" ref={body}>
        {shown !== 'timing' && <PayloadTab id={id} tab={shown} call={full} fed={fed ?? null} />}
        {shown === 'timing' && (
          <>
            {brief !== null && <Brief call={brief} times={times} />}
            {full !== null && <CallFacts call={full} utc={times.zone === 'UTC'} />}
            {isUnderWay && <p class="quiet">Its times are told when it has ended.</p>}
            {full === null && trouble === null && !isUnderWay && (
              <div class="skeleton" style={{ height: '16rem' }} />
            )}
            {full === null && troubleCode === 'call_not_found' && (
              <div class="panel-gone">
                <strong>No call of this id is recorded{fed !== undefined && ' yet'}</strong>
                {fed === undefined && (
                  <p>It may have been folded into sums, or belong to another gateway’s database.</p>
                )}
              </div>
            )}
            {full === null && trouble !== null && troubleCode !== 'call_not_found' && (
              <div class="note bad" role="alert">
                <span>{trouble}</span>
                <button type="button" class="button small" onClick={again}>
                  Try again
                </button>
              </div>
            )}
          </>
        )}
      </div>
    </dialog>
  )
}

/** Whether so much time has gone by since an instant on the page's clock; null is none yet. */
function useSince(instantMs: number | null, ms: number): boolean {
  const hasPassed = instantMs !== null && Date.now() - instantMs >= ms
  const [, look] = useReducer((rounds: number) => rounds + 1, 0)
  useEffect(() => {
    if (instantMs === null || hasPassed) return
    const timer = setTimeout(() => look(0), instantMs + ms - Date.now())
    return () => clearTimeout(timer)
  }, [instantMs, hasPassed])
  return hasPassed
}

/** How a call ended that is not recorded yet. */
function endOf(fed: FedCall | undefined): (EndedCall & { readonly failed: boolean }) | null {
  if (fed === undefined || fed.outcome === null) return null
  const { outcome, status, failureCode } = fed
  return { outcome, status, failure_code: failureCode, failed: isFailure(outcome) }
}

interface BriefProps {
  readonly call: CallJson | OverviewCall
  readonly times: Times
}

/** What a list knows of a call as well: how it ended, its figures and times. */
function Brief({ call, times }: BriefProps): JSX.Element {
  const wrong = failureSentence(call)
  const rest: Partial<CallJson> = 'usage_source' in call ? call : {}
  return (
    <>
      <dl class="panel-facts">
        <div>
          <dt>Total</dt>
          <dd>{known(call.duration_ms, duration)}</dd>
        </div>
        <div>
          <dt>Tokens in → out</dt>
          <dd>
            {known(call.input_tokens, count)} → {known(call.output_tokens, count)}
          </dd>
        </div>
        <div>
          <dt>Cost</dt>
          <dd>
            {known(call.cost_usd, exactDollars)}
            <CallPrice call={rest} costUsd={call.cost_usd} times={times} />
          </dd>
        </div>
        <div>
          <dt>Speed</dt>
          <dd>{known(rest.output_tokens_per_s, (perS) => `${speed(perS)} tok/s`)}</dd>
        </div>
      </dl>
      {wrong !== null && (
        <div class={`note panel-wrong ${call.failed ? 'bad' : ''}`}>
          <p>{wrong}</p>
          {typeof rest.error_message === 'string' && <q>{rest.error_message}</q>}
          {typeof rest.upstream_error_code === 'string' && (
            <p>
              Its code: <code>{rest.upstream_error_code}</code>
            </p>
          )}
        </div>
      )}
      <section>
        <h3>Timing</h3>
        <CallTiming call={call} />
      </section>
    </>
  )
}
