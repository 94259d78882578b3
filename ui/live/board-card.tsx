import { useMemo, useRef, useState } from 'preact/hooks'
import type { LiveCalls } from '../../src/api/live-calls.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import { barParts, barScaleMs } from '../call/call-phases.ts'
import { type ListColumn, LongTable } from '../call/long-table.tsx'
import { useVirtualRows } from '../call/virtual-rows.ts'
import { Waterfall, WaterfallLegend } from '../call/waterfall.tsx'
import { act } from '../data/dashboard-api.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { useLive } from '../data/live.ts'
import { AddressLink, useNavigation } from '../data/navigation.tsx'
import { sessionAddress } from '../data/changed-address.ts'
import { defaultAddress, writeAddress } from '../data/page-address.ts'
import { useAction } from '../data/use-action.ts'
import { Button } from '../design/button.tsx'
import { ConfirmDialog } from '../design/overlay/confirm.tsx'
import { StateMark } from '../design/icon.tsx'
import { useShortcuts } from '../design/keys.ts'
import { useReaderPresence } from '../design/use-reader-presence.ts'
import { useTick } from '../design/use-tick.ts'
import { bytes, count, duration, orDash, longDuration, roundDuration, pair } from '../format/figures.ts'
import { shownText } from '../payloads/shown-text.ts'
import {
  type BoardRow,
  boardWords,
  cancelPoints,
  nextRows,
  liveStates,
  callState,
  timedAt,
} from './board-rows.ts'

/** The least height has room for three one-line rows, the most for ten. Further rows scroll. */
const [leastPx, mostPx] = [108, 360]

export interface BoardCardProps {
  /** The gateway's last report; null before the first one. */
  readonly board: LiveCalls | null
  readonly recordOf: (id: string) => CallJson | null
  readonly isRunning: boolean
  /** True if reports have stopped. */
  readonly isLost: boolean
  /** True while a person reads the list below, which must not move. */
  readonly isReadBelow: boolean
  /** True if j and k move through this list. */
  readonly hasKeys: boolean
  readonly onOpen: (id: string) => void
}

/** The calls in progress. Each keeps its place until its last byte. */
export function BoardCard(props: BoardCardProps) {
  const { board, recordOf, isRunning, isLost, isReadBelow, hasKeys, onOpen } = props
  const { calls, more } = board ?? { calls: [], more: 0 }
  const { address } = useNavigation()
  const tellsUpstream = useLive(({ status }) => (status?.health?.upstreams?.length ?? 0) > 1)
  const box = useRef<HTMLDivElement>(null)
  const reading = useReaderPresence(box, () => false, true)
  const lastRows = useRef<readonly BoardRow[]>([])
  const [askedId, setAsked] = useState<string | null>(null)
  const isRead = reading.isRead || askedId !== null
  const rows = (lastRows.current = nextRows(lastRows.current, calls, nowMs(), isRead, recordOf))
  useTick(rows.length > 0)
  const { error, run } = useAction()
  const askedCall = rows.find(({ id }) => id === askedId)
  const summary = boardWords(calls)
  // Without reports, the times stop.
  const lostMs = useRef<number | null>(null)
  lostMs.current = isLost ? (lostMs.current ?? nowMs()) : null
  const now = lostMs.current ?? nowMs()
  const scaleMs = barScaleMs(rows.map(({ call, goneMs, record }) => record ?? timedAt(call, goneMs ?? now)))
  const list = useVirtualRows({ title: 'In progress', all: rows, list: box, hasKeys, onOpen })
  const { utc } = address
  const isEmpty = rows.length === 0
  const columns = useMemo(
    () => columnsOf({ nowMs: now, scaleMs, isEmpty, utc, tellsUpstream, onCancel: setAsked }),
    [now, scaleMs, isEmpty, utc, tellsUpstream],
  )
  const active = rows.find(({ id }) => id === list.activeId)
  const cancelActive = (): void => {
    if (active?.goneMs === null) setAsked(active.id)
  }
  useShortcuts('In progress', hasKeys ? [{ key: 'x', words: 'Cancel call', run: cancelActive }] : [])
  // The board grows when it needs room, but not while the list below is being read.
  const room = useRef(leastPx)
  if (!isReadBelow) room.current = Math.max(room.current, Math.min(list.heightOf(rows.length), mostPx))
  return (
    <section class="card board-card clips" aria-labelledby="board-title">
      <div class="live-head row wraps">
        <h2 id="board-title">In progress</h2>
        <div class="live-told row wraps fine">
          <span>
            {summary !== '' && isLost ? `${summary} when last reached` : summary}
            {more > 0 && `, and ${count(more)} more`}
          </span>
          {error !== null && (
            <span class="notice" role="alert">
              {error.message}
            </span>
          )}
        </div>
        {!isEmpty && <WaterfallLegend />}
      </div>
      <div class="board" {...reading.listeners}>
        <LongTable
          box={box}
          list={list}
          label="Calls in progress, oldest first"
          class="list-scroller"
          style={{ height: `calc(${room.current}px + var(--list-head))` }}
          columns={columns}
          gridClass="board-row"
          rowClassOf={({ goneMs }) => (goneMs === null ? '' : 'is-gone')}
          linkIn="model"
          linkOf={({ id, call: { method, path, upstream } }) => ({
            href: writeAddress({ ...address, call: id, tab: 'timing' }),
            title: `${method} ${shownText(path)} at ${upstream}`,
          })}
          total={rows.length}
          openId={address.call}
          isLeftByEscape
        >
          {isEmpty && (
            <p class="board-nothing quiet">
              {isLost
                ? 'The dashboard is unreachable: calls in progress are unknown.'
                : !isRunning
                  ? 'The gateway is stopped, so no calls are in progress. Start it at the top of the page.'
                  : board === null
                    ? 'Loading calls in progress…'
                    : 'No calls in progress. Calls appear here while they run; you can cancel them.'}
            </p>
          )}
        </LongTable>
      </div>
      {askedId !== null && askedCall !== undefined && (
        <ConfirmDialog
          title={`Cancel this call${askedCall.call.model === null ? '' : ` of ${shownText(askedCall.call.model)}`}?`}
          yes="Cancel call"
          no="Leave it running"
          points={cancelPoints(askedCall)}
          onNo={() => setAsked(null)}
          onYes={() => {
            setAsked(null)
            void run(() => act('POST', `/api/calls/${askedCall.id}/cancel`))
          }}
        />
      )}
    </section>
  )
}

interface Look {
  /** The instant at which open calls' bars end. */
  readonly nowMs: number
  readonly scaleMs: number
  readonly isEmpty: boolean
  readonly utc: boolean
  /** True if rows name their upstream, because there are several. */
  readonly tellsUpstream: boolean
  readonly onCancel: (id: string) => void
}

function columnsOf({
  nowMs,
  scaleMs,
  isEmpty,
  utc,
  tellsUpstream,
  onCancel,
}: Look): readonly ListColumn<BoardRow>[] {
  const seconds = (since: string, { goneMs }: BoardRow): string =>
    longDuration(Math.max(0, Math.floor(((goneMs ?? nowMs) - Date.parse(since)) / 1000)))
  return [
    {
      name: 'state',
      words: 'State',
      cell: (row) => {
        const { state, state_since: since, queue_place: place } = row.call
        if (row.goneMs !== null) return <span class="quiet">Ended</span>
        return (
          <span class="board-state" style={{ '--part': barParts[liveStates[state].part].colour }}>
            <StateMark shape={state === 'streaming' ? 'half' : state === 'waiting' ? 'disc' : 'ring'} />
            {callState(row.call)}
            {place !== null && ` #${count(place)}`}
            <span class="quiet"> {seconds(since, row)}</span>
          </span>
        )
      },
    },
    {
      name: 'model',
      words: 'Model',
      cell: ({ call: { model, path, upstream } }) => (
        <>
          {shownText(model ?? path)}
          {tellsUpstream && <span class="quiet"> at {upstream}</span>}
        </>
      ),
    },
    {
      name: 'who',
      words: 'Client, session',
      class: 'board-who',
      cell: ({ call: { client, session } }) => (
        <>
          {client !== null && (
            <AddressLink to={{ ...defaultAddress, view: 'calls', clients: [client], utc }}>
              {shownText(client)}
            </AddressLink>
          )}
          {session !== null && (
            <AddressLink class="quiet" to={{ ...sessionAddress(session), utc }}>
              {shownText(session)}
            </AddressLink>
          )}
        </>
      ),
    },
    {
      name: 'timing',
      words: '',
      class: 'board-timing',
      extra: (
        <span class="board-axis">
          <span class="aside">Timing</span>
          <span>{!isEmpty && 0}</span>
          <span>{!isEmpty && roundDuration(scaleMs)}</span>
        </span>
      ),
      cell: ({ call, goneMs, record }) => (
        <Waterfall call={record ?? timedAt(call, goneMs ?? nowMs)} scaleMs={scaleMs} />
      ),
    },
    {
      name: 'chunks',
      words: 'Chunks',
      class: 'board-chunks figure',
      cell: ({ call, goneMs, record }) => {
        const { chunks } = record ?? call
        return (
          <>
            {(chunks ?? 0) > 0 && count(chunks ?? 0)}
            {goneMs === null && call.chunks_per_s !== null && (
              <span class="quiet"> {Math.round(call.chunks_per_s)}/s</span>
            )}
          </>
        )
      },
    },
    {
      name: 'bytes',
      words: 'Bytes in / out',
      class: 'board-bytes figure quiet',
      cell: ({ call, record }) => {
        const { request_bytes: sent, response_bytes: got } = record ?? call
        return pair(sent, got, bytes)
      },
    },
    {
      name: 'age',
      words: 'Age',
      class: 'board-age figure',
      cell: (row) =>
        row.record === null ? seconds(row.call.started_at, row) : orDash(row.record.duration_ms, duration),
    },
    {
      name: 'cancel',
      words: '',
      class: 'board-cancel',
      extra: <span class="aside">Cancel</span>,
      cell: ({ id, goneMs }, isActive) =>
        goneMs === null && (
          <Button
            kind="bare"
            small
            icon="close"
            label="Cancel this call"
            tabIndex={isActive ? 0 : -1}
            onClick={() => onCancel(id)}
          />
        ),
    },
  ]
}
