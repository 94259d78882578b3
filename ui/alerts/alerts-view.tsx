import '../design/columns-view.css'
import './alerts.css'
import { useState } from 'preact/hooks'
import type { AlertRuleReport, AlertSetting, AlertsReport } from '../../src/api/alerts.ts'
import { act } from '../data/dashboard-api.ts'
import { useLive } from '../data/live.ts'
import { useTimes } from '../data/navigation.tsx'
import { useAction } from '../data/use-action.ts'
import { useQuery } from '../data/use-query.ts'
import { Awaited } from '../design/awaited.tsx'
import { Card } from '../design/card.tsx'
import { type Draft, elsewhereWords, typedInto } from '../design/form/draft.ts'
import { Icon } from '../design/icon.tsx'
import { Banner } from '../design/banner.tsx'
import { count, counted } from '../format/figures.ts'
import { typedNumber } from '../format/typed-number.ts'
import { arrivalWords, headOf, messageWords } from './alert-text.ts'
import { DestinationCard } from './destination-card.tsx'
import { SettingRow } from '../design/form/setting-row.tsx'

const everyMs = 10_000
/** The interval of requests while a message is pending. */
const soonMs = 1000

/** The view of active alerts, rules and sent messages. */
export function AlertsView() {
  const active = useLive(({ alerts }) => alerts)
  const rules = useLive(({ alertRules }) => alertRules)
  const query = useQuery<AlertsReport>('/api/alerts', {
    version: JSON.stringify([active, rules]),
    everyMs: (report) => ((report?.pending ?? 0) > 0 ? soonMs : everyMs),
  })
  const { answer: report, again, put } = query
  if (report === null) return <Awaited what="the alerts" {...query} height="22rem" />
  const isLocked = report.problem !== null
  return (
    <div class="columns-view stack">
      <div class="column stack">
        <Active active={report.active} />
        <Card title="Rules" class="rules-card" about={switchedOffWords(report.rules)}>
          {report.problem !== null && (
            <Banner tone="warn" id="alert-problem">
              {report.problem} The last valid rules stay in force.
            </Banner>
          )}
          {report.rules.map((rule) => (
            <RuleRow key={rule.code} rule={rule} isLocked={isLocked} onSaved={put} />
          ))}
          <p class="quiet fine">
            Saved in <code>{report.file}</code>
          </p>
        </Card>
      </div>
      <div class="column stack">
        <DestinationCard report={report} onSaved={put} onTested={again} />
        <Messages {...report} />
      </div>
    </div>
  )
}

function Active({ active }: Pick<AlertsReport, 'active'>) {
  const times = useTimes()
  return (
    <Card title="Active alerts">
      {active.length === 0 ? (
        <p class="quiet">No active alerts.</p>
      ) : (
        <ul id="alerts-active" class="alert-list stack" aria-label="Active alerts">
          {active.map((alert) => (
            <li key={headOf(alert)}>
              <strong class="is-warn">
                <Icon name="warning" size={14} /> {headOf(alert)}
              </strong>
              <span class="quiet">since {times.short(Date.parse(alert.since))}</span>
              <p>{alert.text}</p>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

function Messages({ messages, pending, dropped }: AlertsReport) {
  const times = useTimes()
  const failed = messages.filter(({ state }) => state === 'failed').length
  const about = [pending > 0 ? `${pending} pending` : [], failed > 0 ? `${failed} not delivered` : []].flat()
  return (
    <Card title="Recent messages" about={about.join(', ')}>
      {dropped > 0 && (
        <Banner tone="warn">{counted(dropped, 'message')} dropped: too many were waiting.</Banner>
      )}
      {messages.length === 0 && <p class="quiet">No messages yet.</p>}
      <ul id="alert-messages" class="alert-list stack">
        {messages.map((message) => (
          <li key={message.id}>
            <strong>{messageWords(message)}</strong>
            <span class="quiet">{times.short(Date.parse(message.at))}</span>
            <p>
              {message.text}{' '}
              <span class={message.state === 'failed' ? 'bad' : 'quiet'}>{arrivalWords(message)}</span>
            </p>
          </li>
        ))}
      </ul>
    </Card>
  )
}

interface RuleRowProps {
  readonly rule: AlertRuleReport
  /** True if the file of the settings is invalid, so that nothing can be saved. */
  readonly isLocked: boolean
  readonly onSaved: (report: AlertsReport) => void
}

/** A rule with its switch and its threshold. Each change is saved at once. */
function RuleRow({ rule, isLocked, onSaved }: RuleRowProps) {
  const { code, title, asks, unit, on, threshold, usual } = rule
  const [draft, setDraft] = useState<Draft | null>(null)
  /** The pressed switch until it is saved; null otherwise. */
  const [wish, setWish] = useState<boolean | null>(null)
  const { run, error } = useAction()
  const change = (part: Partial<AlertSetting>, done: () => void): void => {
    void run(async () => {
      onSaved(await act<AlertsReport>('PUT', '/api/alerts', { [code]: part }))
      if (part.threshold !== undefined) setDraft(null)
    }).then(done)
  }
  const saved = numberText(threshold)
  const typed = draft === null ? threshold : typedNumber(draft.text)
  return (
    <SettingRow
      id={`alert-${code}`}
      title={
        <label class={`row ${(wish ?? on) ? '' : 'quiet'}`}>
          <input
            type="checkbox"
            checked={wish ?? on}
            disabled={isLocked}
            onChange={({ currentTarget: { checked } }) => {
              setWish(checked)
              change({ on: checked }, () => setWish(null))
            }}
          />
          {title}
        </label>
      }
      label={`${title}: threshold`}
      value={draft?.text ?? saved}
      unit={unit}
      isNumber
      isDisabled={isLocked}
      error={typed === null ? 'Enter a number from 0, such as 1,500 or 1.5.' : (error?.message ?? null)}
      notice={elsewhereWords(draft, saved)}
      about={`${asks} ${threshold === usual ? '' : `Default: ${numberText(usual)}.`}`}
      onInput={(text) => setDraft(typedInto(draft, text, saved))}
      onChange={() => {
        if (typed === threshold) setDraft(null)
        else if (typed !== null) change({ threshold: typed }, () => undefined)
      }}
    />
  )
}

/** Returns a threshold as the text of its field; whole numbers get separators. */
function numberText(value: number): string {
  return Number.isInteger(value) ? count(value) : String(value)
}

function switchedOffWords(rules: AlertsReport['rules']): string {
  const off = rules.filter(({ on }) => !on).length
  return off === 0 ? '' : `${off} off`
}
