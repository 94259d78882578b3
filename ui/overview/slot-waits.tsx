import type { SlotWaits, SlotWaitsReport } from '../../src/api/slot-waits.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { useLive } from '../data/live.ts'
import { useNavigation, useTimes } from '../data/navigation.tsx'
import { useQuery } from '../data/use-query.ts'
import { Banner } from '../design/banner.tsx'
import { Table } from '../design/table/table.tsx'
import { count, counted, orDash, percent, wait } from '../format/figures.ts'
import { enoughWords, slotsOf, slotsPath, upstreamOf } from './slot-limits.ts'

/** The waits of calls, simulated with more slots. */
export function SlotWaitsPanel() {
  const { address } = useNavigation()
  const upstream = upstreamOf(address)
  const slots = useLive(({ status }) => slotsOf(status?.health, upstream))
  const { answer, error, again } = useQuery<SlotWaitsReport>(
    JSON.stringify([address.range, upstream, slots?.max_concurrent, slots?.slot_cooldown_ms]),
    () => slotsPath(address, upstream, slots, nowMs()),
  )
  return (
    <div class="filter-panel stack slot-waits">
      <h3>How many slots would have been enough?</h3>
      {error !== null && (
        <Banner tone="bad" onRetry={again}>
          {error}
        </Banner>
      )}
      {answer === null && error === null && <p role="status">Counting…</p>}
      {answer !== null && <SlotWaitsFigures report={answer} />}
    </div>
  )
}

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
        columns={['Slots', 'Calls waiting', 'Wait p95', 'Longest']}
      >
        <tbody>
          <WaitsRow words="As recorded" waits={recorded} calls={calls} />
          {estimates.map(({ max_concurrent: slots, ...waits }) => (
            <WaitsRow
              key={slots}
              words={slots === limit ? `${count(slots)} (now)` : count(slots)}
              waits={waits}
              calls={calls + away}
            />
          ))}
        </tbody>
      </Table>
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

interface WaitsRowProps {
  readonly words: string
  readonly waits: SlotWaits
  readonly calls: number
}

function WaitsRow({ words, waits, calls }: WaitsRowProps) {
  return (
    <tr>
      <th scope="row">{words}</th>
      <td>{calls === 0 ? '–' : percent(waits.waited / calls)}</td>
      <td>{orDash(waits.wait_p95_ms, wait)}</td>
      <td>{orDash(waits.wait_max_ms, wait)}</td>
    </tr>
  )
}
