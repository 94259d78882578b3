import type { GatewayRow, GatewaysReport } from '../../src/api/gateways.ts'
import { act } from '../data/dashboard-api.ts'
import { useTimes } from '../data/navigation.tsx'
import { useAction } from '../data/use-action.ts'
import { useQuery } from '../data/use-query.ts'
import { Card } from '../design/card.tsx'
import { EditableTable } from '../design/table/editable-table.tsx'
import { ConfirmButton } from '../design/overlay/confirm.tsx'
import { Meter } from '../design/meter.tsx'
import { Banner } from '../design/banner.tsx'
import { count, counted } from '../format/figures.ts'
import { inFlight, state, waiting } from './row-columns.tsx'
import { allWords, copyWords, isWorthShowing, releaseQuestion, stateOf } from './gateways-text.ts'

/** The intervals of requests while there is something to show, and otherwise. */
const [oftenMs, rarelyMs] = [3000, 30_000]

/** All gateways that share a limit, if there are several, and the progress of a first copy of their calls. */
export function GatewaysCard() {
  const { answer: report, put } = useQuery<GatewaysReport>('/api/gateways', {
    everyMs: (report) => (isWorthShowing(report) ? oftenMs : rarelyMs),
  })
  const { run, isBusy, error } = useAction()
  const times = useTimes()
  if (!isWorthShowing(report)) return null
  const { gateways, copy, problem, as_of: asOf } = report
  const time = (ms: number): string => times.short(ms)
  const release = async ({ instance }: GatewayRow): Promise<void> =>
    put(await act('POST', `/api/gateways/${encodeURIComponent(instance)}/release`))
  return (
    <Card title="All gateways" about={allWords(report)} class="gateways-card stacked">
      {problem !== null && (
        <Banner tone="warn">
          The shared database is unreachable: {problem}. Gateways as of {time(Date.parse(asOf))}.
        </Banner>
      )}
      {copy !== null && (
        <div class="copy" role="status">
          {copyWords(copy)}
          <Meter share={copy.pulled / copy.last} />
        </div>
      )}
      {gateways.length > 0 && (
        <EditableTable
          caption="Gateways sharing a limit"
          rows={gateways}
          keyOf={({ instance }) => instance}
          columns={[
            { head: 'Gateway', cell: Name },
            state<GatewayRow>((row) => stateOf(row, time)),
            inFlight<GatewayRow>(({ active, held }) => [active, `${count(held)} held`]),
            waiting<GatewayRow>((row) => row.waiting),
            { head: 'Rows behind', cell: (row) => count(row.rows_behind) },
            {
              head: <span class="aside">Release</span>,
              class: 'row-action',
              cell: (row) =>
                row.can_release && (
                  <ConfirmButton
                    small
                    isOff={isBusy}
                    question={releaseQuestion(row)}
                    onYes={() => void run(() => release(row))}
                  >
                    Release
                    <span class="aside">
                      {' '}
                      {counted(row.held, 'slot')} of {row.host}
                    </span>
                  </ConfirmButton>
                ),
            },
          ]}
        />
      )}
      <p class="bad" role="alert">
        {error?.message}
      </p>
    </Card>
  )
}

function Name({ host, instance, version, is_own: isOwn }: GatewayRow) {
  return (
    <>
      {host}
      <small>
        {isOwn && 'this gateway, '}
        {instance}, version {version}
      </small>
    </>
  )
}
