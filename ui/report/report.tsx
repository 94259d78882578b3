import './report.css'
import type { ComponentProps } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { ChartEventsContext } from '../charts/plot.tsx'
import { Comparison } from '../compare/comparison.tsx'
import { useNavigation, useTimes } from '../data/navigation.tsx'
import { defaultAddress } from '../data/page-address.ts'
import type { ReportData } from '../data/report.ts'
import { filterChips } from '../filters/filter-chips.ts'
import type { ListedCalls } from '../overview/calls-card.tsx'
import { OverviewBody } from '../overview/overview-body.tsx'
import { marksOf, outagesOf } from '../overview/overview-time.ts'

interface ReportProps {
  readonly report: ReportData
}

const stay = (): void => undefined
/** A report does not know which calls nobody bills. */
const noFree = { models: new Set<null>(), calls: 0 }

/** All figures of a range, in one file without requests. */
export function Report({ report }: ReportProps) {
  const { overview, models, clients } = report
  const [list, setList] = useState<ListedCalls>('slowest')
  const events = useMemo(() => ({ outages: outagesOf(overview), marks: marksOf(overview, 0) }), [])
  return (
    <ChartEventsContext.Provider value={events}>
      <main class="page stack report">
        <ReportHead report={report} />
        <div class="view stack overview">
          <OverviewBody
            answer={overview}
            earlier={null}
            rules={{}}
            free={noFree}
            list={list}
            onList={setList}
            onOpen={stay}
          />
        </div>
        <div class="view stack">
          <ReportComparison by="model" groups={models} />
          {clients.length > 1 && <ReportComparison by="client" groups={clients} />}
        </div>
      </main>
    </ChartEventsContext.Provider>
  )
}

/** The comparison in a report, which keeps the drawn curves in its state, because a report has no address. */
function ReportComparison(props: Pick<ComponentProps<typeof Comparison>, 'by' | 'groups'>) {
  const [shown, show] = useState(defaultAddress)
  return <Comparison {...props} shown={shown} onShow={(change) => show({ ...shown, ...change })} />
}

function ReportHead({ report }: ReportProps) {
  const { address } = useNavigation()
  const times = useTimes()
  const filters = filterChips(address, true).map(({ name, words }) => `${name} ${words}`)
  const { from, to } = report.overview
  return (
    <header class="report-head stack">
      <h1>{times.between(Date.parse(from), Date.parse(to))}</h1>
      <p class="quiet">{filters.length === 0 ? 'All calls' : `Calls: ${filters.join(', ')}`}</p>
      <p class="fine">
        Created by tokenweir, {times.full(Date.parse(report.made_at))}. Times in {times.zone}.
      </p>
    </header>
  )
}
