import type { JSX } from 'preact'
import { useEffect, useReducer } from 'preact/hooks'
import type { LiveState } from '../../src/api/live-calls.ts'
import { type PageAddress, writeAddress } from '../data/page-address.ts'
import { OnlyWhenChanged } from '../design/only-when-changed.ts'
import { CallTag } from '../call/call-tag.tsx'
import { isFailure } from '../data/failure-words.ts'
import { StateMark } from '../design/state-mark.tsx'
import { duration, known, longDuration } from '../format/figures.ts'
import type { Times } from '../format/times.ts'
import { shownText } from '../payloads/shown-text.ts'
import type { LiveCall } from './live-call.ts'
import { nowMs } from '../data/dashboard-clock.ts'

export interface LiveRowProps {
  readonly call: LiveCall
  /** Of the call: it stays the same object. */
  readonly version: number
  readonly index: number
  readonly count: number
  readonly topPx: number
  readonly times: Times
  readonly address: PageAddress
  /** Whether Tab leads to it. */
  readonly isActive: boolean
  readonly onFocus: (call: LiveCall) => void
  readonly onPress: (event: MouseEvent, call: LiveCall) => void
}

/** A call of the feed on a line. */
export class LiveRow extends OnlyWhenChanged<LiveRowProps> {
  override render(): JSX.Element {
    const { call, index, count, topPx, times, address, isActive, onFocus, onPress } = this.props
    const { id, startedMs, model, path, promptWords, answerWords } = call
    return (
      <li aria-setsize={count} aria-posinset={index + 1} style={{ top: `${topPx}px` }}>
        <a
          class="live-row"
          data-id={id}
          href={writeAddress({ ...address, call: id, tab: 'chat' })}
          tabIndex={isActive ? 0 : -1}
          aria-current={id === address.call ? 'true' : undefined}
          onFocus={() => onFocus(call)}
          onClick={(event) => onPress(event, call)}
        >
          <time title={times.inUtc(startedMs)}>{times.seconds(startedMs)}</time>
          <span class="live-state">
            <StateOf call={call} />
          </span>
          <span class="live-model">{shownText(model ?? path)}</span>
          <span class="live-prompt">{promptWords}</span>
          <span class="live-answer">{answerWords}</span>
          <span class="live-took">
            {call.endedMs !== null ? (
              known(call.durationMs, duration)
            ) : call.isLost ? (
              ''
            ) : (
              <Elapsed sinceMs={startedMs} />
            )}
          </span>
        </a>
      </li>
    )
  }
}

const stateWords: Readonly<Record<LiveState, string>> = {
  receiving: 'Receiving',
  waiting: 'Waiting',
  running: 'Running',
  backing_off: 'Trying again',
}

function StateOf({ call }: { readonly call: LiveCall }): JSX.Element {
  const { outcome, status, failureCode, isLost, state } = call
  if (outcome !== null) {
    return <CallTag call={{ outcome, status, failure_code: failureCode, failed: isFailure(outcome) }} />
  }
  if (state === 'over') return <span class="quiet">Ended</span>
  if (isLost) {
    return (
      <span
        class="quiet"
        title="The connection to the gateway was lost, or records were left out, meanwhile."
      >
        End not heard
      </span>
    )
  }
  return (
    <span class={state === 'waiting' ? 'live-waiting' : 'live-running'}>
      <StateMark shape={state === 'running' ? 'half' : 'ring'} />
      {state === null ? 'Under way' : stateWords[state]}
    </span>
  )
}

/** In whole seconds, which is calm enough to look at. */
function Elapsed({ sinceMs }: { readonly sinceMs: number }): JSX.Element {
  const [, tick] = useReducer((rounds: number) => rounds + 1, 0)
  useEffect(() => {
    const timer = setInterval(() => tick(0), 1000)
    return () => clearInterval(timer)
  }, [])
  return <>{longDuration(Math.floor((nowMs() - sinceMs) / 1000))}</>
}
