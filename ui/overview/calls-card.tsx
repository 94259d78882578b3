import type { Overview, OverviewCall } from '../../src/api/overview.ts'
import { AddressLink, useTimes } from '../data/navigation.tsx'
import { barScaleMs } from '../call/call-phases.ts'
import { CallTag } from '../call/call-tag.tsx'
import { Waterfall, WaterfallLegend } from '../call/waterfall.tsx'
import { Card } from '../design/card.tsx'
import { Segments } from '../design/form/segments.tsx'
import { type Column, Table } from '../design/table/table.tsx'
import { count, dollars, duration, orDash, roundDuration } from '../format/figures.ts'
import type { Times } from '../format/times.ts'
import { timedCalls, timedWords } from './overview-question.ts'

export interface CallsCardProps {
  readonly answer: Overview
  readonly list: ListedCalls
  readonly onList: (list: ListedCalls) => void
  readonly onOpen: (id: string) => void
}

const mostShown = 12

/** Returns the calls of a list to show. */
export function shownCalls(answer: Overview, list: ListedCalls): readonly OverviewCall[] {
  return answer[list].slice(0, mostShown)
}

const listWords = { slowest: 'Slowest', failed: 'Failed', latest: 'Latest' } as const

export type ListedCalls = keyof typeof listWords

/** The text of each empty list, and the address of all its calls. */
const lists = {
  slowest: { none: 'No successful calls in this range.', to: { sort: 'duration' } },
  failed: { none: 'No failed calls in this range.', to: { sort: 'started_at', errorsOnly: true } },
  latest: { none: 'No calls in this range.', to: { sort: 'started_at' } },
} as const

/** Some calls of a list with bars of their times, and a link to all calls. */
export function CallsCard({ answer, list, onList, onOpen }: CallsCardProps) {
  const times = useTimes()
  const calls = shownCalls(answer, list)
  const isSlowest = list === 'slowest'
  const { none, to } = lists[list]
  return (
    <Card
      title="Calls"
      about={isSlowest ? timedWords(answer) : undefined}
      class="calls-card"
      actions={<Segments label="Which calls" words={listWords} chosen={list} onChoose={onList} />}
    >
      {calls.length === 0 ? (
        <p class="nothing-here quiet">{none}</p>
      ) : (
        <Table
          class="has-links"
          caption={`${listWords[list]} calls`}
          columns={columnsOf(times, Date.parse(answer.to), barScaleMs(calls))}
          rows={calls}
          keyOf={({ id }) => id}
          attributesOf={({ id }) => ({ onClick: () => onOpen(id) })}
        />
      )}
      <div class="calls-card-foot row wraps">
        <WaterfallLegend />
        <AddressLink
          class="text-link at-end"
          to={{ view: 'calls', ...to, ...(isSlowest ? timedCalls(answer) : {}) }}
        >
          Open all in Calls
        </AddressLink>
      </div>
    </Card>
  )
}

/** Returns the columns. Narrow tables hide columns of the class `is-more`. */
function columnsOf(times: Times, nowMs: number, scaleMs: number): readonly Column<OverviewCall>[] {
  return [
    {
      head: 'Time',
      // The button is for keyboards and screen readers. The row is a larger target for the same action.
      cell: ({ id, started_at: startedAt }) => (
        <button type="button" class="calls-card-open" data-id={id} title={times.inUtc(Date.parse(startedAt))}>
          {times.short(Date.parse(startedAt), nowMs)}
        </button>
      ),
    },
    {
      head: 'Model',
      isWords: true,
      class: 'is-model cut',
      cell: ({ model, endpoint }) => (
        <span class={model === null ? 'quiet' : ''} title={model ?? endpoint}>
          {model ?? endpoint}
        </span>
      ),
    },
    { head: 'Result', isWords: true, cell: (call) => <CallTag call={call} /> },
    { head: 'Tokens in', class: 'is-more', cell: ({ input_tokens: tokens }) => orDash(tokens, count) },
    { head: 'Tokens out', class: 'is-more', cell: ({ output_tokens: tokens }) => orDash(tokens, count) },
    { head: 'Cost', class: 'is-more', cell: ({ cost_usd: usd }) => orDash(usd, dollars) },
    { head: 'First token', class: 'is-more', cell: ({ ttft_ms: ms }) => orDash(ms, duration) },
    { head: 'Total', class: 'is-total', cell: ({ duration_ms: ms }) => orDash(ms, duration) },
    {
      head: (
        <>
          <span>Where the time went</span> <span class="quiet">full width {roundDuration(scaleMs)}</span>
        </>
      ),
      isWords: true,
      class: 'is-bar',
      cell: (call) => <Waterfall call={call} scaleMs={scaleMs} />,
    },
  ]
}
