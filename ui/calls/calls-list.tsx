import './calls.css'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { CallJson } from '../../src/call/call-record.ts'
import { CallTag } from '../call/call-tag.tsx'
import { noUsageWords } from '../call/call-text.ts'
import { type ListColumn, LongTable } from '../call/long-table.tsx'
import { useVirtualRows } from '../call/virtual-rows.ts'
import { Waterfall } from '../call/waterfall.tsx'
import { type CallSort, callTypeWords } from '../data/call-text.ts'
import { useNavigation, useTimes } from '../data/navigation.tsx'
import { writeAddress } from '../data/page-address.ts'
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
export function CallsList({ list, isNarrow, columns: names, onOpen }: CallsListProps) {
  const { calls, total, scaleMs, answeredMs, isStale = false, comeNear } = list
  const { address, go } = useNavigation()
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
  const columns = useMemo(
    () => names.map((name) => columnOf(name, { scaleMs, isNarrow, times, nowMs: answeredMs ?? 0 })),
    [names, scaleMs, isNarrow, times, answeredMs],
  )
  const widthRem = names.reduce((sum, name) => sum + callColumns[name].rem, 0)
  return (
    <LongTable
      box={box}
      list={shown}
      label="Calls"
      class={`call-rows ${isNarrow ? 'calls-cards' : 'calls-scroller list-scroller fills goes-on-aside'}`}
      style={isNarrow ? {} : { '--least-width': `${widthRem}rem` }}
      columns={columns}
      linkIn="time"
      linkOf={({ id, started_at: startedAt }) => ({
        href: writeAddress({ ...address, call: id }),
        title: times.inUtc(Date.parse(startedAt)),
      })}
      order={{
        name: address.sort,
        rising: address.rising,
        onOrder: (sort, rising) => go({ sort, rising }),
      }}
      total={total}
      isStale={isStale}
      openId={address.call}
    >
      <CallsFoot list={list} />
    </LongTable>
  )
}

interface Look extends Pick<CallsLayout, 'isNarrow'> {
  readonly scaleMs: number
  readonly times: Times
  readonly nowMs: number
}

function columnOf(
  name: ColumnName,
  { scaleMs, isNarrow, times, nowMs }: Look,
): ListColumn<CallJson, CallSort> {
  const { words, title, rem, isFigure, sort } = callColumns[name]
  const column = { name, words, title, sort, rem, ...(isFigure === true && { class: 'figure' }) }
  if (name === 'timing') {
    return {
      ...column,
      // The bars get the remaining width.
      rem: undefined,
      extra: <span class="timing-scale">{roundDuration(scaleMs)}</span>,
      cell: (call) => <Waterfall call={call} scaleMs={scaleMs} />,
    }
  }
  if (name !== 'time') return { ...column, cell: cells[name] }
  return {
    ...column,
    cell: ({ started_at: startedAt, input_tokens: input, output_tokens: output, cost_usd: usd }) => [
      times.short(Date.parse(startedAt), nowMs),
      isNarrow && ` · ${pair(input, output, count)}`,
      isNarrow && usd !== null && ` · ${dollars(usd)}`,
    ],
  }
}

/** The cells of a call, except its time and its bar. */
const cells: Readonly<Record<Exclude<ColumnName, 'time' | 'timing'>, (call: CallJson) => ComponentChildren>> =
  {
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
  }
