import { useMemo, useRef } from 'preact/hooks'
import type { SessionSort } from '../../src/call/call-session.ts'
import { type ListColumn, LongTable } from '../call/long-table.tsx'
import { useVirtualRows } from '../call/virtual-rows.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { useNavigation, useTimes } from '../data/navigation.tsx'
import { orderOf } from '../data/changed-address.ts'
import { type PageAddress, isFiltered, withoutFilters, writeAddress } from '../data/page-address.ts'
import { boundsOf } from '../data/page-range.ts'
import { Icon } from '../design/icon.tsx'
import { explained } from '../design/meanings.ts'
import { Meter } from '../design/meter.tsx'
import { MoreFailed } from '../design/more-failed.tsx'
import { Awaited } from '../design/awaited.tsx'
import { FoldedTime } from '../design/folded-time.tsx'
import { EmptyState } from '../design/empty-state.tsx'
import { OrderSelect } from '../design/table/order-select.tsx'
import { useFrozen, useReaderPresence } from '../design/use-reader-presence.ts'
import { FilterBar } from '../filters/filter-bar.tsx'
import { TextSearch } from '../filters/text-search.tsx'
import { count, counted, duration, orDash, percent, unknownFigure, pair } from '../format/figures.ts'
import type { Times } from '../format/times.ts'
import { shownText } from '../payloads/shown-text.ts'
import { costWords, firstWords, modelWords } from './session-text.ts'
import { type SessionList, type SessionRow, useSessions } from './use-sessions.ts'

/** A list scrolled by more than this is being read. */
const readPx = 22

/** The sessions of a range, by default the last called one first. */
export function SessionsList() {
  const { address, go } = useNavigation()
  const list = useSessions(address)
  const { answer, rows, isStale, isRefused, error } = list
  const box = useRef<HTMLDivElement>(null)
  const reading = useReaderPresence(box, ({ scrollTop }) => scrollTop > readPx, true)
  const question = JSON.stringify([address.text, address.order, address.rising, isStale])
  const shown = useFrozen(rows, reading.isRead && rows.length > 0, question, withFurther)
  const isHeld = shown.length !== rows.length || shown.some((row, at) => row !== rows[at])
  const models = [...new Set(rows.flatMap((row) => row.models))]
  const facetAnswer = answer && { available_models: models, available_types: [] }
  return (
    <>
      <FilterBar query={{ ...list, answer: facetAnswer, error: isRefused ? null : error }} />
      <section class="card clips sessions-card" aria-labelledby="sessions-title">
        <h2 id="sessions-title" class="aside">
          All sessions
        </h2>
        <div class="sessions-tools card-bar row wraps">
          <TextSearch label="Find session" placeholder="Find by name" />
          <OrderSelect
            class="sessions-order-choice"
            words={firstWords}
            order={orderOf('sessions', address)}
            rising={address.rising}
            onOrder={(order, rising) => go({ order, rising })}
          />
          <span class="fine" role="status">
            {answer !== null && !isRefused && shown.length > 0 && (
              <>
                {list.hasMore ? `Last ${counted(shown.length, 'session')}` : counted(shown.length, 'session')}
                <span class="sessions-order">
                  , {firstWords[orderOf('sessions', address)][address.rising ? 1 : 0].toLowerCase()} first
                </span>
                {!list.hasMore &&
                  isPartlyFolded(address, answer.folded_until) &&
                  '; earlier ones were rolled up'}
              </>
            )}
          </span>
          {isHeld && (
            <button
              type="button"
              class="news-pill sessions-new"
              onClick={() => {
                reading.leave()
                box.current?.scrollTo(0, 0)
              }}
            >
              <Icon name="up" size={14} /> Updated
            </button>
          )}
        </div>
        {answer === null || isRefused ? (
          <Awaited what="the sessions" {...list} height="30rem" />
        ) : shown.length === 0 ? (
          <NoSessions foldedUntil={answer.folded_until} />
        ) : (
          <div class="list-around" {...reading.listeners}>
            <Rows list={list} rows={shown} box={box} onOpen={(id) => go(opening(shown, id, address))} />
          </div>
        )}
      </section>
    </>
  )
}

/** True if some calls of the range are rolled up; their totals have no session. */
function isPartlyFolded(address: PageAddress, foldedUntil: string | null): boolean {
  return boundsOf(address, nowMs()).fromMs < Date.parse(foldedUntil ?? '')
}

/** Adds further pages below a frozen list, because its reader asked for them. */
function withFurther(frozen: readonly SessionRow[], rows: readonly SessionRow[]): readonly SessionRow[] {
  const last = frozen.at(-1)?.id
  const end = rows.findIndex(({ id }) => id === last)
  const frozenIds = new Set(frozen.map(({ id }) => id))
  const further = end < 0 ? [] : rows.slice(end + 1).filter(({ id }) => !frozenIds.has(id))
  return further.length === 0 ? frozen : [...frozen, ...further]
}

/** Returns the change of the address that opens a session. `rising` then sorts the session's calls. */
function opening(rows: readonly SessionRow[], id: string, { rising }: PageAddress): Partial<PageAddress> {
  const session = rows.find((row) => row.id === id)?.session ?? null
  return { session, call: null, rising: false, listRising: rising }
}

interface RowsProps {
  readonly list: SessionList
  readonly rows: readonly SessionRow[]
  readonly box: { current: HTMLDivElement | null }
  readonly onOpen: (id: string) => void
}

function Rows({ list, rows, box, onOpen }: RowsProps) {
  const { address, go } = useNavigation()
  const times = useTimes()
  const { hasMore, moreError, loadMore, comeNear, isStale } = list
  const shown = useVirtualRows({ title: 'Sessions', all: rows, list: box, onOpen, onNearEnd: comeNear })
  return (
    <LongTable
      box={box}
      list={shown}
      label="Sessions"
      class="sessions-scroller list-scroller fills"
      columns={useMemo(() => columnsOf(times), [times])}
      gridClass="session-row"
      linkOf={(row) => ({ href: writeAddress({ ...address, ...opening([row], row.id, address) }) })}
      order={{
        name: orderOf('sessions', address),
        rising: address.rising,
        onOrder: (order, rising) => go({ order, rising }),
      }}
      total={hasMore ? null : rows.length}
      isStale={isStale}
    >
      {moreError !== null && <MoreFailed error={moreError} again={loadMore} />}
    </LongTable>
  )
}

/** The legend of a session's bar. */
function TimeKey() {
  return (
    <span class="row">
      <span class="colour-key" style={{ '--part': 'var(--stream)' }} {...explained('In calls')}>
        In calls
      </span>
      <span class="colour-key" style={{ '--part': 'var(--line)' }} {...explained('Between')}>
        Between
      </span>
    </span>
  )
}

function columnsOf(times: Times): readonly ListColumn<SessionRow, SessionSort>[] {
  return [
    {
      name: 'session',
      words: 'Session',
      class: 'session-name',
      cell: ({ session, client }) => (
        <>
          <strong class="cut" title={shownText(session)}>
            {shownText(session)}
          </strong>
          <small class="cut finest">{client === null ? 'Unknown client' : shownText(client)}</small>
        </>
      ),
    },
    {
      name: 'models',
      words: 'Models',
      class: 'session-models quiet',
      cell: ({ models }) => <span title={models.map(shownText).join(', ')}>{modelWords(models)}</span>,
    },
    {
      name: 'at',
      words: 'Last call',
      class: 'session-at quiet',
      sort: 'last_at',
      cell: ({ first_at: first, last_at: last }) => (
        <span title={`First call ${times.full(Date.parse(first))}`}>{times.short(Date.parse(last))}</span>
      ),
    },
    {
      name: 'calls',
      words: 'Calls',
      class: 'session-calls figure',
      sort: 'calls',
      cell: ({ calls, errors }) => (
        <>
          {count(calls)}
          {errors > 0 && (
            <>
              , <span class="bad">{count(errors)} failed</span>
            </>
          )}
        </>
      ),
    },
    {
      name: 'tokens',
      words: 'Tokens in / out',
      class: 'session-tokens figure',
      sort: 'tokens',
      cell: (row) => <Tokens row={row} />,
    },
    {
      name: 'cached',
      words: 'Cached',
      class: 'session-cached figure',
      cell: (row) => orDash(row.cached_share, percent),
    },
    { name: 'cost', words: 'Cost', class: 'session-cost figure', sort: 'cost', cell: costWords },
    {
      name: 'duration',
      words: 'Duration',
      class: 'session-time',
      sort: 'duration',
      extra: <TimeKey />,
      cell: ({ in_calls_ms: inCallsMs, between_ms: betweenMs, wall_ms: wallMs }) => (
        <span class="row" title={`${duration(inCallsMs)} in calls, ${duration(betweenMs)} between`}>
          <Meter share={inCallsMs / wallMs || 0} />
          <strong>{duration(wallMs)}</strong>
        </span>
      ),
    },
  ]
}

/** Input and output tokens; unknown if no call has usage. */
function Tokens({ row: { input_tokens: input, output_tokens: output } }: { readonly row: SessionRow }) {
  if (input === 0 && output === 0) return unknownFigure
  return (
    <>
      {pair(input, output, count)}
      <span class="session-unit"> tokens</span>
    </>
  )
}

/** The reason that there are no sessions, and the way to name them. */
function NoSessions({ foldedUntil }: { readonly foldedUntil: string | null }) {
  const { address } = useNavigation()
  if (isPartlyFolded(address, foldedUntil)) return <FoldedTime untilMs={Date.parse(foldedUntil ?? '')} />
  if (isFiltered({ ...address, q: '' }) || address.text !== '') {
    return (
      <EmptyState
        title="No sessions match"
        actions={
          <a class="button" href={writeAddress({ ...withoutFilters(address), text: '' })}>
            Clear search and filters
          </a>
        }
      >
        No session in this range has this name and a call that matches all filters.
      </EmptyState>
    )
  }
  return (
    <EmptyState title="No sessions in this range">
      <p>
        A session groups the calls of one agent run or conversation. Claude Code, Codex and opencode name
        their sessions automatically. Other clients send a header with each call:
      </p>
      <pre class="sessions-header inset">x-tokenweir-session: fix-the-login-page</pre>
    </EmptyState>
  )
}
