import '../design/tokens.css'
import '../design/design.css'
// In the order of the page, where the styles of views come last.
import '../charts/charts.css'
import '../app/app.css'
import '../call/call.css'
import '../filters/filters.css'
import '../overview/overview.css'
import '../compare/compare.css'
import './report.css'
import { render } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { ChartRoomProvider } from '../charts/chart-room.tsx'
import { Comparison } from '../compare/compare-view.tsx'
import { useNavigation, useTimes } from '../data/navigation.tsx'
import { filterChips } from '../filters/filter-chips.ts'
import type { ListedCalls } from '../overview/calls-card.tsx'
import { OverviewBody } from '../overview/overview-body.tsx'
import { marksOf, outagesOf } from '../overview/overview-time.ts'
import { reportData } from './report-data.ts'

const data = reportData()
const stay = (): void => undefined

/** All figures of a time in one file that needs nothing else. */
function Report() {
  const { overview, models, clients } = data
  const [list, setList] = useState<ListedCalls>('slowest')
  const outages = useMemo(() => outagesOf(overview), [])
  const marks = useMemo(() => marksOf(overview.events, 0), [])
  return (
    <ChartRoomProvider outages={outages} marks={marks}>
      <main class="page">
        <ReportHead />
        <div class="view overview">
          <OverviewBody answer={overview} earlier={null} list={list} onList={setList} onOpen={stay} />
        </div>
        <div class="view">
          <Comparison by="model" groups={models} />
          {clients.length > 1 && <Comparison by="client" groups={clients} />}
        </div>
      </main>
    </ChartRoomProvider>
  )
}

function ReportHead() {
  const { address } = useNavigation()
  const times = useTimes()
  const { models, callTypes, outcomes, errorsOnly } = address
  const filters = [
    ...models,
    ...callTypes,
    ...outcomes,
    ...(errorsOnly ? ['errors only'] : []),
    ...filterChips({ ...address, range: { last: '24h' } }, () => '').map(
      ({ name, words }) => `${name} ${words}`,
    ),
  ]
  const { from, to } = data.overview
  return (
    <header class="report-head">
      <h1>{times.between(Date.parse(from), Date.parse(to))}</h1>
      <p>{filters.length === 0 ? 'All calls' : `Calls of ${filters.join(', ')}`}</p>
      <p class="fine">
        Made by tokenweir, {times.full(Date.parse(data.made_at))}. Times in {times.zone}.
      </p>
    </header>
  )
}

const root = document.getElementById('app')
if (root === null) throw new Error('the report has no place for what it shows')
render(<Report />, root)
