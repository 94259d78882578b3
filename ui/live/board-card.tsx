import { useRef, useState } from 'preact/hooks'
import type { LiveCalls } from '../../src/api/live-calls.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import { barParts, barScaleMs } from '../call/call-phases.ts'
import { PureComponent } from '../call/pure-component.ts'
import { type RowPlace, useVirtualRows } from '../call/virtual-rows.ts'
import { Waterfall, WaterfallLegend } from '../call/waterfall.tsx'
import { act } from '../data/dashboard-api.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { useLive } from '../data/live.ts'
import { AddressLink, useNavigation } from '../data/navigation.tsx'
import { sessionAddress } from '../data/changed-address.ts'
import { type PageAddress, defaultAddress, writeAddress } from '../data/page-address.ts'
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
  const active = rows.find(({ id }) => id === list.activeId)
  const cancelActive = (): void => {
    if (active?.goneMs === null) setAsked(active.id)
  }
  useShortcuts('In progress', hasKeys ? [{ key: 'x', words: 'Cancel call', run: cancelActive }] : [])
  // The board grows when it needs room, but not while the list below is being read.
  const room = useRef(leastPx)
  if (!isReadBelow) room.current = Math.max(room.current, Math.min(list.heightPx, mostPx))
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
        {rows.length > 0 && <WaterfallLegend />}
      </div>
      <div class="board" {...reading.listeners}>
        <div class="list-row list-columns board-row board-columns quiet" aria-hidden="true">
          <span>State</span>
          <span>Model</span>
          <span>Client, session</span>
          <span class="board-axis">
            <span>{rows.length > 0 && 0}</span>
            <span>{rows.length > 0 && roundDuration(scaleMs)}</span>
          </span>
          <span class="figure">Chunks</span>
          <span class="figure">Bytes in / out</span>
          <span class="figure">Age</span>
        </div>
        <div
          ref={box}
          class="list-scroller"
          style={{ height: `${room.current}px` }}
          onKeyDown={(event) => {
            if (event.key === 'Escape') (document.activeElement as HTMLElement).blur()
            else list.onKeyDown(event)
          }}
        >
          {rows.length === 0 && (
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
          <ol aria-label="Calls in progress, oldest first" style={{ height: `${list.heightPx}px` }}>
            {list.rows.map(({ row, place }) => (
              <Row
                key={row.id}
                row={row}
                nowMs={row.goneMs ?? now}
                scaleMs={scaleMs}
                address={address}
                tellsUpstream={tellsUpstream}
                onCancel={setAsked}
                {...place}
              />
            ))}
          </ol>
        </div>
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

interface RowProps extends RowPlace {
  readonly row: BoardRow
  /** The instant at which open calls' bars end. */
  readonly nowMs: number
  readonly scaleMs: number
  readonly address: PageAddress
  /** True if rows name their upstream, because there are several. */
  readonly tellsUpstream: boolean
  readonly onCancel: (id: string) => void
}

/** A call in progress on a line. */
class Row extends PureComponent<RowProps> {
  override render() {
    const { row, index, count: all, topPx, nowMs: now, scaleMs, address } = this.props
    const { isActive, tellsUpstream, onFocus, onPress, onCancel } = this.props
    const { id, call, goneMs, record } = row
    const { request_bytes: sent, response_bytes: got, chunks } = record ?? call
    const { state, model, client, session, method, path, upstream } = call
    const seconds = (since: string): string =>
      longDuration(Math.max(0, Math.floor((now - Date.parse(since)) / 1000)))
    return (
      <li
        class={`list-row board-row ${goneMs === null ? '' : 'is-gone'}`}
        aria-setsize={all}
        aria-posinset={index + 1}
        aria-current={id === address.call ? 'true' : undefined}
        style={{ top: `${topPx}px` }}
      >
        <span class="board-state" style={{ '--part': barParts[liveStates[state].part].colour }}>
          {goneMs === null ? (
            <>
              <StateMark shape={state === 'streaming' ? 'half' : state === 'waiting' ? 'disc' : 'ring'} />
              {callState(call)}
              {call.queue_place !== null && ` #${count(call.queue_place)}`}
              <span class="quiet"> {seconds(call.state_since)}</span>
            </>
          ) : (
            <span class="quiet">Ended</span>
          )}
        </span>
        <a
          class="board-open"
          data-id={id}
          href={writeAddress({ ...address, call: id, tab: 'timing' })}
          title={`${method} ${shownText(path)} at ${upstream}`}
          tabIndex={isActive ? 0 : -1}
          onFocus={() => onFocus(id)}
          onClick={(event) => onPress(event, id)}
        >
          {shownText(model ?? path)}
          {tellsUpstream && <span class="quiet"> at {upstream}</span>}
        </a>
        <span class="board-who">
          {client !== null && (
            <AddressLink to={{ ...defaultAddress, view: 'calls', clients: [client], utc: address.utc }}>
              {shownText(client)}
            </AddressLink>
          )}
          {session !== null && (
            <AddressLink class="quiet" to={{ ...sessionAddress(session), utc: address.utc }}>
              {shownText(session)}
            </AddressLink>
          )}
        </span>
        <Waterfall call={record ?? timedAt(call, now)} scaleMs={scaleMs} />
        <span class="board-chunks figure">
          {(chunks ?? 0) > 0 && count(chunks ?? 0)}
          {goneMs === null && call.chunks_per_s !== null && (
            <span class="quiet"> {Math.round(call.chunks_per_s)}/s</span>
          )}
        </span>
        <span class="board-bytes figure quiet">{pair(sent, got, bytes)}</span>
        <span class="board-age figure">
          {record === null ? seconds(call.started_at) : orDash(record.duration_ms, duration)}
        </span>
        {goneMs === null && (
          <Button
            kind="bare"
            small
            icon="close"
            class="board-cancel"
            label="Cancel this call"
            tabIndex={isActive ? 0 : -1}
            onClick={() => onCancel(id)}
          />
        )}
      </li>
    )
  }
}
