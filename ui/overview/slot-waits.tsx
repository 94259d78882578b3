import type { SlotWaits, SlotWaitsReport } from '../../src/api/slot-waits.ts'
import { useLive } from '../data/live.ts'
import { useNavigation, useTimes } from '../data/navigation.tsx'
import { useQuery } from '../data/use-query.ts'
import { Awaited } from '../design/awaited.tsx'
import { type Column, Table } from '../design/table/table.tsx'
import { count, counted, orDash, percent, unknownFigure, wait } from '../format/figures.ts'
import { enoughWords, slotsOf, slotsPath, upstreamOf } from './slot-limits.ts'

/** The waits of calls, simulated with more slots. */
export function SlotWaitsPanel() {
  const { address } = useNavigation()
  const upstream = upstreamOf(address)
  const slots = useLive(({ status }) => slotsOf(status?.health, upstream))
  const query = useQuery<SlotWaitsReport>((nowMs) => slotsPath(address, upstream, slots, nowMs))
  const { answer, error } = query
  return (
    <div class="filter-panel stack slot-waits">
      <h3>How many slots would have been enough?</h3>
      {(answer === null || error !== null) && <Awaited what="the waits" {...query} height="12rem" />}
      {answer !== null && <SlotWaitsFigures report={answer} />}
    </div>
  )
}

interface WaitsRow {
  readonly words: string
  readonly waits: SlotWaits
  readonly calls: number
}

const columns: readonly Column<WaitsRow>[] = [
  { head: 'Slots', cell: ({ words }) => words },
  {
    head: 'Calls waiting',
    cell: ({ waits, calls }) => (calls === 0 ? unknownFigure : percent(waits.waited / calls)),
  },
  { head: 'Wait p95', cell: ({ waits }) => orDash(waits.wait_p95_ms, wait) },
  { head: 'Longest', cell: ({ waits }) => orDash(waits.wait_max_ms, wait) },
]

function SlotWaitsFigures({ report }: { readonly report: SlotWaitsReport }) {
  const times = useTimes()
  const {
    calls,
    turned_away: away,
    counted_from: countedFrom,
    recorded,
    estimates,
    max_concurrent: limit,
  } = report
  if (calls + away === 0) return <p>No calls used a slot in this range.</p>
  return (
    <>
      <p>{enoughWords(report)}</p>
      <Table
        caption="Waits with other numbers of slots"
        columns={columns}
        rows={[
          { words: 'As recorded', waits: recorded, calls },
          ...estimates.map(({ max_concurrent: slots, ...waits }) => ({
            words: slots === limit ? `${count(slots)} (now)` : count(slots),
            waits,
            calls: calls + away,
          })),
        ]}
        keyOf={({ words }) => words}
      />
      <p class="fine">
        Simulated from {counted(calls, 'call')}
        {countedFrom === null ? '' : ` since ${times.short(Date.parse(countedFrom))}`}: when each arrived and
        how long it held its slot, first come, first served. Assumes that the upstream stays as fast with more
        calls at once; a model on your own machine often slows down.
        {away > 0 &&
          ` ${counted(away, 'call')} never got a slot: each is assumed to need one for the median time of the others.`}
      </p>
    </>
  )
}
