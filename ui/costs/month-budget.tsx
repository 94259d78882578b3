import { useState } from 'preact/hooks'
import type { AlertsReport, AlertSetting } from '../../src/api/alerts.ts'
import { act } from '../data/dashboard-api.ts'
import { AddressLink } from '../data/navigation.tsx'
import { useAction } from '../data/use-action.ts'
import { Button } from '../design/button.tsx'
import { Control } from '../design/form/control.tsx'
import { type Draft, elsewhereWords, typedInto } from '../design/form/draft.ts'
import { dollars } from '../format/figures.ts'
import { typedNumber } from '../format/typed-number.ts'

export interface MonthBudgetProps {
  /** The month's budget in USD; null if none is set. */
  readonly budgetUsd: number | null
  readonly onSaved: (report: AlertsReport) => void
}

/** Sets the month's budget for all calls. An alert begins when it is exceeded. */
export function MonthBudget({ budgetUsd, onSaved }: MonthBudgetProps) {
  const [draft, setDraft] = useState<Draft | null>(null)
  const { isBusy, error, run } = useAction()
  const saved = budgetUsd === null ? '' : String(budgetUsd)
  const shown = draft?.text ?? saved
  const typed = typedNumber(shown)
  const elsewhere = elsewhereWords(draft, saved, budgetUsd === null ? 'none' : dollars(budgetUsd))
  const save = (setting: Partial<AlertSetting>): void =>
    void run(async () => {
      onSaved(await act<AlertsReport>('PUT', '/api/alerts', { spend_month: setting }))
      setDraft(null)
    })
  return (
    <form
      class="month-budget row wraps fine"
      onSubmit={(event) => {
        event.preventDefault()
        if (typed !== null) save({ on: true, threshold: typed })
      }}
    >
      <label for="month-budget">Monthly budget, USD</label>
      <Control
        id="month-budget"
        value={shown}
        isNumber
        hint="none"
        onInput={(text) => setDraft(typedInto(draft, text, saved))}
      />
      <Button small type="submit" isOff={isBusy || typed === null || typed === budgetUsd}>
        Set
      </Button>
      {budgetUsd !== null && (
        <Button kind="bare" small isOff={isBusy} onClick={() => save({ on: false })}>
          Remove
        </Button>
      )}
      <span class={error !== null ? 'bad' : elsewhere !== null ? 'notice' : 'quiet'} role="status">
        {error?.message ??
          elsewhere ??
          (budgetUsd === null
            ? 'Alerts when the month’s spend reaches it.'
            : 'Alerts at 80% and 100% of it.')}
      </span>{' '}
      <AddressLink class="text-link" to={{ view: 'alerts', call: null }}>
        Alert destination
      </AddressLink>
    </form>
  )
}
