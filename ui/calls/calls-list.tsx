import './calls.css'
import { type ComponentChildren, Fragment } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { CallJson } from '../../src/call/call-record.ts'
import { CallTag } from '../call/call-tag.tsx'
import { noUsageWords } from '../call/call-text.ts'
import { type RowPlace, useVirtualRows } from '../call/virtual-rows.ts'
import { Waterfall } from '../call/waterfall.tsx'
import { callTypeWords } from '../data/call-text.ts'
import { useNavigation, useTimes } from '../data/navigation.tsx'
import { type PageAddress, writeAddress } from '../data/page-address.ts'
import { SortHeading, sortedAs } from '../design/table/sort-heading.tsx'
import { explained } from '../design/meanings.ts'
import { PureComponent } from '../call/pure-component.ts'
import { useHeightBelow } from '../design/use-window.ts'
import {
  bytes,
  count,
  counted,
  dollars,
  duration,
  orDash,
  percent,
  roundDuration,
  speed,
  unknownFigure,
  wait,
  pair,
} from '../format/figures.ts'
import type { Times } from '../format/times.ts'
import { CallsFoot } from './call-summary.tsx'
import type { CallsLayout } from './calls-layout.ts'
import { type ColumnName, callColumns } from './chosen-columns.ts'
import type { CallList } from './use-call-list.ts'

/** Calls to list. Only a list with further pages has the other fields. */
export type ListedCalls = Pick<CallList, 'calls' | 'total' | 'scaleMs' | 'answeredMs'> & Partial<CallList>

export interface CallsListProps extends CallsLayout {
  readonly list: ListedCalls
  readonly onOpen: (id: string) => void
}

/** The calls of a list, of which only the visible rows are rendered. In a narrow window, each row is a card. */
export function CallsList({ list, isNarrow, columns, onOpen }: CallsListProps) {
  const { calls, total, scaleMs, answeredMs, isStale = false, comeNear } = list
  const { address } = useNavigation()
  const times = useTimes()
  const box = useRef<HTMLDivElement>(null)
  const shown = useVirtualRows({
    title: 'Calls',
    all: calls,
    list: box,
    byWindow: isNarrow,
    onOpen,
    onNearEnd: comeNear,
  })
  // Another list starts at its top.
  useEffect(shown.toTop, [calls[0]?.id])
  const heightPx = useHeightBelow(box)
  const widthRem = columns.reduce((sum, name) => sum + callColumns[name].rem, 0)
  const lastIndex = shown.rows.at(-1)?.place.index ?? -1
  return (
    <div
      class={`${isNarrow ? 'calls-cards' : 'calls-scroller list-scroller goes-on-aside'} ${isStale ? 'is-stale' : ''}`}
      ref={box}
      style={isNarrow ? {} : { height: `${heightPx}px` }}
      onKeyDown={shown.onKeyDown}
    >
      <table
        class="calls-table"
        aria-rowcount={total === null ? -1 : total + 1}
        aria-label="Calls"
        aria-busy={isStale}
        style={isNarrow ? {} : { minWidth: `${widthRem}rem` }}
      >
        <colgroup>
          {columns.map((name) => (
            <col key={name} style={name === 'timing' ? {} : { width: `${callColumns[name].rem}rem` }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((name) => (
              <ColumnHead key={name} name={name} scaleMs={scaleMs} />
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.rows.map(({ row: call, place }, at) => (
            <Fragment key={call.id}>
              <Gap
                px={shown.heightOf(place.index - (shown.rows[at - 1]?.place.index ?? -1) - 1)}
                columns={columns.length}
              />
              <CallRow
                call={call}
                isNarrow={isNarrow}
                columns={columns}
                scaleMs={scaleMs}
                times={times}
                nowMs={answeredMs ?? 0}
                address={address}
                {...place}
              />
            </Fragment>
          ))}
          <Gap px={shown.heightOf(calls.length - lastIndex - 1)} columns={columns.length} />
        </tbody>
      </table>
      <CallsFoot list={list} />
    </div>
  )
}

function ColumnHead({ name, scaleMs }: { readonly name: ColumnName; readonly scaleMs: number }) {
  const { address, go } = useNavigation()
  const { words, title, isFigure, sort } = callColumns[name]
  const sorted = sortedAs(sort, address.sort, address.rising)
  return (
    <th scope="col" class={isFigure === true ? 'figure' : ''} {...explained(words, title)} aria-sort={sorted}>
      {sort === undefined ? (
        words
      ) : (
        <SortHeading sorted={sorted} onSort={(rising) => go({ sort, rising })}>
          {words}
        </SortHeading>
      )}
      {name === 'timing' && <span class="timing-scale">{roundDuration(scaleMs)}</span>}
    </th>
  )
}

/** The space of rows that are not rendered. */
function Gap({ px, columns }: { readonly px: number; readonly columns: number }) {
  if (px <= 0) return null
  return (
    <tr class="gap" aria-hidden="true">
      <td colSpan={columns} style={{ height: `${px}px` }} />
    </tr>
  )
}

interface CallRowProps extends RowPlace, CallsLayout {
  readonly call: CallJson
  readonly scaleMs: number
  readonly times: Times
  readonly nowMs: number
  readonly address: PageAddress
}

/** A call in the table. The time is the link to the call. */
class CallRow extends PureComponent<CallRowProps> {
  override render() {
    const { call, index, isNarrow, columns, scaleMs, times, nowMs, address, isActive } = this.props
    const { onFocus, onPress } = this.props
    const { id, input_tokens: input, output_tokens: output, cost_usd: usd } = call
    const startedMs = Date.parse(call.started_at)
    return (
      <tr
        class="call"
        aria-rowindex={index + 2}
        aria-current={id === address.call ? 'true' : undefined}
        onClick={(event) => onPress(event, id)}
      >
        {columns.map((name) => (
          <td key={name} class={callColumns[name].isFigure === true ? 'figure' : ''}>
            {name === 'time' ? (
              <>
                <a
                  data-id={id}
                  href={writeAddress({ ...address, call: id })}
                  tabIndex={isActive ? 0 : -1}
                  title={times.inUtc(startedMs)}
                  onFocus={() => onFocus(id)}
                >
                  {times.short(startedMs, nowMs)}
                </a>
                {isNarrow && ` · ${pair(input, output, count)}${usd === null ? '' : ` · ${dollars(usd)}`}`}
              </>
            ) : (
              cells[name](call, scaleMs)
            )}
          </td>
        ))}
      </tr>
    )
  }
}

/** The cells of a call, except the time, which the row renders itself. */
const cells: Readonly<
  Record<Exclude<ColumnName, 'time'>, (call: CallJson, scaleMs: number) => ComponentChildren>
> = {
  model: ({ model, endpoint }) => model ?? <span class="quiet">{endpoint}</span>,
  type: ({ call_type: type }) => <span class="quiet">{callTypeWords[type]}</span>,
  status: (call) => <CallTag call={call} />,
  client: ({ client }) => <span class="quiet">{client ?? unknownFigure}</span>,
  session: ({ session }) => <span class="quiet">{session ?? unknownFigure}</span>,
  tools: ({ tools }) => <span class="quiet">{tools?.replaceAll(',', ', ') ?? unknownFigure}</span>,
  tags: ({ tags }) => <span class="quiet">{tags?.replaceAll(',', ', ') ?? unknownFigure}</span>,
  upstream: ({ upstream_name: name, upstream: host }) => (
    <span class="quiet">{name ?? host ?? unknownFigure}</span>
  ),
  source: ({ source }) => <span class="quiet">{source ?? unknownFigure}</span>,
  attempts: ({ attempts }) =>
    attempts > 1 ? <strong>{attempts}</strong> : <span class="quiet">{attempts}</span>,
  input: ({ input_tokens: tokens }) => orDash(tokens, count),
  output: (call) =>
    call.output_tokens === null && call.usage_source === 'none' && (call.chunks ?? 0) > 0 ? (
      <span class="quiet" title={noUsageWords(call)}>
        {counted(call.chunks ?? 0, 'chunk')}
      </span>
    ) : (
      orDash(call.output_tokens, count)
    ),
  cached: ({ cached_input_tokens: tokens }) => orDash(tokens, count),
  cachedShare: ({ cached_input_tokens: cached, input_tokens: input }) =>
    cached === null || input === null || input === 0 ? unknownFigure : percent(cached / input),
  bytes: ({ request_bytes: sent, response_bytes: received }) => pair(sent, received, bytes),
  cost: ({ cost_usd: cost }) => orDash(cost, dollars),
  queue: ({ queue_ms: ms }) =>
    ms !== null && ms >= 1 ? wait(ms) : <span class="quiet">{orDash(ms, wait)}</span>,
  first: ({ ttft_ms: ms }) => orDash(ms, duration),
  speed: ({ output_tokens_per_s: perS }) => orDash(perS, speed),
  total: ({ duration_ms: ms }) => <strong>{orDash(ms, duration)}</strong>,
  timing: (call, scaleMs) => <Waterfall call={call} scaleMs={scaleMs} />,
}
