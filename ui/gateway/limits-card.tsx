import type { ProviderLimit } from '../../src/api/health-report.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { Card } from '../design/card.tsx'
import { Meter } from '../design/meter.tsx'
import { unknownFigure } from '../format/figures.ts'
import { EditableTable } from '../design/table/editable-table.tsx'
import { state } from './row-columns.tsx'
import { type LimitedUse, leastLeft, limitWords, limitedUses, stateOf, useKey } from './limits-text.ts'

/** The rest of providers' limits, once a response has reported one. */
export function LimitsCard({ limits }: { readonly limits: readonly ProviderLimit[] }) {
  if (limits.length === 0) return null
  return (
    <Card title="Provider limits" about="from each provider’s latest response" class="limits-card stacked">
      <EditableTable
        caption="What remains of each provider’s limits"
        rows={limitedUses(limits)}
        keyOf={useKey}
        columns={[
          { head: 'Model', cell: Name },
          state<LimitedUse>((use) => stateOf(use, nowMs())),
          { head: 'Remaining', isWords: true, cell: RemainingLimits },
        ]}
        most={8}
        isUrgent={(use) => stateOf(use, nowMs()).tone === 'warn'}
      />
    </Card>
  )
}

function Name({ upstream, model, key }: LimitedUse) {
  return (
    <>
      {model ?? unknownFigure}
      <small>
        {upstream}
        {key !== null && `, key ${key}`}
      </small>
    </>
  )
}

function RemainingLimits(use: LimitedUse) {
  return (
    <>
      <Meter share={leastLeft(use)} />
      {use.limits
        .filter(({ kind }) => kind !== 'wait')
        .map((limit) => (
          <small key={`${limit.kind} ${limit.window_s}`}>{limitWords(limit, nowMs())}</small>
        ))}
    </>
  )
}
