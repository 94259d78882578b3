import { useMemo } from 'preact/hooks'
import type { Overview, OverviewCall } from '../../src/api/overview.ts'
import { AddressLink, useTimes } from '../data/navigation.tsx'
import { barScaleMs } from '../call/call-phases.ts'
import { CallTag } from '../call/call-tag.tsx'
import { Waterfall, WaterfallLegend } from '../call/waterfall.tsx'
import { Card } from '../design/card.tsx'
import { Segments } from '../design/form/segments.tsx'
import { type ColumnHead, Table } from '../design/table/table.tsx'
import { count, dollars, duration, orDash, roundDuration } from '../format/figures.ts'
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
  const calls = useMemo(() => shownCalls(answer, list), [answer, list])
  const scaleMs = useMemo(() => barScaleMs(calls), [calls])
  const nowMs = Date.parse(answer.to)
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
        <Table class="has-links" caption={`${listWords[list]} calls`} columns={columns(scaleMs)}>
          <tbody>
            {calls.map((call) => (
              <Row key={call.id} call={call} nowMs={nowMs} scaleMs={scaleMs} onOpen={onOpen} />
            ))}
          </tbody>
        </Table>
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
function columns(scaleMs: number): readonly ColumnHead[] {
  const timing = (
    <>
      <span>Where the time went</span> <span class="quiet">full width {roundDuration(scaleMs)}</span>
    </>
  )
  return [
    'Time',
    { words: 'Model', class: 'is-words' },
    { words: 'Result', class: 'is-words' },
    { words: 'Tokens in', class: 'is-more' },
    { words: 'Tokens out', class: 'is-more' },
    { words: 'Cost', class: 'is-more' },
    { words: 'First token', class: 'is-more' },
    'Total',
    { words: timing, class: 'is-words is-bar' },
  ]
}

interface RowProps {
  readonly call: OverviewCall
  readonly nowMs: number
  readonly scaleMs: number
  readonly onOpen: (id: string) => void
}

function Row({ call, nowMs, scaleMs, onOpen }: RowProps) {
  const times = useTimes()
  const startedMs = Date.parse(call.started_at)
  return (
    // The button in the first cell is for keyboards and screen readers. The row is a larger target for the same
    // action.
    <tr onClick={() => onOpen(call.id)}>
      <td>
        <button type="button" class="calls-card-open" data-id={call.id} title={times.inUtc(startedMs)}>
          {times.short(startedMs, nowMs)}
        </button>
      </td>
      <td class="is-words is-model cut" title={call.model ?? call.endpoint}>
        {call.model ?? <span class="quiet">{call.endpoint}</span>}
      </td>
      <td class="is-words">
        <CallTag call={call} />
      </td>
      <td class="is-more">{orDash(call.input_tokens, count)}</td>
      <td class="is-more">{orDash(call.output_tokens, count)}</td>
      <td class="is-more">{orDash(call.cost_usd, dollars)}</td>
      <td class="is-more">{orDash(call.ttft_ms, duration)}</td>
      <td class="is-total">{orDash(call.duration_ms, duration)}</td>
      <td class="is-words is-bar">
        <Waterfall call={call} scaleMs={scaleMs} />
      </td>
    </tr>
  )
}
