import './calls-cards.css'
import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import type { CallJson } from '../../src/call/call-record.ts'
import { useNavigation } from '../data/navigation.tsx'
import { writeAddress } from '../data/page-address.ts'
import { count, dollars, duration, known } from '../format/figures.ts'
import type { Times } from '../format/times.ts'
import { CallTag } from '../call/call-tag.tsx'
import { useCallRows } from './use-call-rows.ts'
import { Waterfall } from '../call/waterfall.tsx'

/** Of each card, in pixels: 5.25 rem. */
const cardPx = 84

export interface CallsCardsProps {
  readonly calls: readonly CallJson[]
  readonly total: number | null
  readonly scaleMs: number
  readonly times: Times
  readonly nowMs: number
  readonly isStale: boolean
  readonly onOpen: (id: string) => void
  /** The last cards are near. */
  readonly onNearEnd: () => void
  /** After the last card. */
  readonly foot: JSX.Element
}

/** The calls of a list where there is no room for a table. */
export function CallsCards(props: CallsCardsProps): JSX.Element {
  const { calls, total, scaleMs, times, nowMs, isStale, onOpen, onNearEnd, foot } = props
  const { address } = useNavigation()
  const list = useRef<HTMLUListElement>(null)
  const rows = useCallRows({ calls, list, byWindow: true, headPx: 0, rowPx: cardPx, onOpen, onNearEnd })
  return (
    <>
      <ul
        class={`calls-cards ${isStale ? 'is-stale' : ''}`}
        ref={list}
        aria-label="Calls"
        aria-busy={isStale}
        style={{ height: `${calls.length * cardPx}px` }}
        onKeyDown={rows.onKeyDown}
      >
        {rows.indexes.map((index) => {
          const call = calls[index]
          if (call === undefined) return null
          const { started_at: startedAt, input_tokens: input, output_tokens: output, cost_usd: cost } = call
          return (
            <li
              key={call.id}
              data-index={index}
              aria-setsize={total ?? -1}
              aria-posinset={index + 1}
              style={{ top: `${index * cardPx}px` }}
            >
              <a
                class="call-card call-link"
                href={writeAddress({ ...address, call: call.id })}
                tabIndex={index === rows.active ? 0 : -1}
                aria-current={call.id === address.call ? 'true' : undefined}
                onFocus={() => rows.handlers.onFocus(index)}
                onClick={(event) => rows.handlers.onPress(event, index)}
              >
                <strong>{call.model ?? call.endpoint}</strong>
                <strong>{known(call.duration_ms, duration)}</strong>
                <span class="quiet">
                  {times.short(Date.parse(startedAt), nowMs)} · {known(input, count)} → {known(output, count)}
                  {cost !== null && ` · ${dollars(cost)}`}
                </span>
                <span>
                  <CallTag call={call} />
                </span>
                <Waterfall call={call} scaleMs={scaleMs} />
              </a>
            </li>
          )
        })}
      </ul>
      {foot}
    </>
  )
}
