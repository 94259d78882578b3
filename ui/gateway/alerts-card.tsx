import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { AlertRuleReport, AlertSetting, AlertsReport, AlertTest } from '../../src/api/alerts.ts'
import { act } from '../data/dashboard-api.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { useLive } from '../data/live.ts'
import { useTimes } from '../data/navigation.tsx'
import { useAction } from '../data/use-action.ts'
import { useAnswer } from '../data/use-answer.ts'
import { Button } from '../design/button.tsx'
import { Card } from '../design/card.tsx'
import { Icon } from '../design/icon.tsx'
import { Note } from '../design/note.tsx'
import { count, counted } from '../format/figures.ts'
import { arrivalWords, headOf, messageWords, receiverWords, thresholdOf } from './alert-words.ts'

const everyMs = 10_000
/** While a message is on its way. */
const soonMs = 1000

/** What the alert rules say is so, the rules themselves, and the last messages. */
export function AlertsCard() {
  const active = useLive(({ alerts }) => alerts)
  const path = (): string => '/api/alerts'
  const [isSoon, setSoon] = useState(false)
  const asked = useAnswer<AlertsReport>(JSON.stringify(active), path, {
    everyMs: isSoon ? soonMs : everyMs,
  })
  const { answer: report, trouble, again, put } = asked
  const isUnderWay = (report?.pending ?? 0) > 0
  useEffect(() => setSoon(isUnderWay), [isUnderWay])
  const [tested, setTested] = useState<AlertTest | null>(null)
  const test = useAction()
  if (report === null) {
    if (trouble === null) return <div class="skeleton" style={{ height: '9rem' }} />
    return (
      <Note tone="bad" onRetry={again}>
        The alerts cannot be read: {trouble}
      </Note>
    )
  }
  const send = async (): Promise<void> => {
    setTested(null)
    setTested(await act<AlertTest>('POST', '/api/alerts/test'))
    again()
  }
  const told = test.trouble?.message ?? (tested === null ? null : testWords(tested, report))
  const isBad = test.trouble !== null || tested?.delivered === false
  return (
    <Card
      title="Alerts"
      class="alerts-card"
      about={<span id="alert-receiver">{receiverWords(report)}</span>}
      actions={
        report.receiver !== null && (
          <Button kind="bare" small isOff={test.isBusy} onClick={() => void test.run(send)}>
            {test.isBusy ? 'Sending…' : 'Send a test'}
          </Button>
        )
      }
    >
      {report.problem !== null && (
        <Note tone="warn" id="alert-problem">
          {report.problem} The last good rules go on.
        </Note>
      )}
      {report.dropped > 0 && (
        <Note tone="warn">{counted(report.dropped, 'message')} given up: too many waited.</Note>
      )}
      <p id="alert-told" class={isBad ? 'bad' : 'quiet'} role="status">
        {told}
      </p>
      <Active active={report.active} />
      <Details title={counted(report.rules.length, 'rule')} about={switchedOffWords(report.rules)}>
        {report.rules.map((rule) => (
          <RuleRow key={rule.code} rule={rule} isFixed={report.problem !== null} onSaved={put} />
        ))}
        <p class="quiet fine">
          Kept in <code>{report.file}</code>
        </p>
      </Details>
      <Messages {...report} />
    </Card>
  )
}

function Active({ active }: Pick<AlertsReport, 'active'>) {
  const times = useTimes()
  if (active.length === 0) return <p class="quiet">Nothing is active.</p>
  return (
    <ul id="alerts-active" class="alert-list" aria-label="Active alerts">
      {active.map((alert) => (
        <li key={headOf(alert)}>
          <strong class="is-warn">
            <Icon name="warning" size={14} /> {headOf(alert)}
          </strong>
          <span class="quiet">since {times.short(Date.parse(alert.since), nowMs())}</span>
          <p>{alert.text}</p>
        </li>
      ))}
    </ul>
  )
}

function Messages({ messages, pending }: AlertsReport) {
  const times = useTimes()
  const lost = messages.filter(({ state }) => state === 'failed').length
  const about = [pending > 0 ? `${pending} on the way` : [], lost > 0 ? `${lost} did not arrive` : []].flat()
  if (messages.length === 0) return null
  return (
    <Details title="Last messages" about={about.join(', ')}>
      <ul id="alert-messages" class="alert-list">
        {messages.map((message) => (
          <li key={message.id}>
            <strong>{messageWords(message)}</strong>
            <span class="quiet">{times.short(Date.parse(message.at), nowMs())}</span>
            <p>
              {message.text}{' '}
              <span class={message.state === 'failed' ? 'bad' : 'quiet'}>{arrivalWords(message)}</span>
            </p>
          </li>
        ))}
      </ul>
    </Details>
  )
}

interface DetailsProps {
  readonly title: string
  readonly about: string
  readonly children: ComponentChildren
}

function Details({ title, about, children }: DetailsProps) {
  return (
    <details>
      <summary class="opener">
        <Icon name="right" size={14} />
        {title}
        {about !== '' && <span class="quiet">{about}</span>}
      </summary>
      {children}
    </details>
  )
}

interface RuleRowProps {
  readonly rule: AlertRuleReport
  /** The file has to be mended before anything can be kept in it. */
  readonly isFixed: boolean
  readonly onSaved: (report: AlertsReport) => void
}

/** A rule with its switch and its threshold, each kept as it is changed. */
function RuleRow({ rule, isFixed, onSaved }: RuleRowProps) {
  const { code, title, asks, unit, on, threshold, usual } = rule
  const [draft, setDraft] = useState<string | null>(null)
  /** What was switched and is not kept yet. */
  const [wish, setWish] = useState<boolean | null>(null)
  const { run, trouble } = useAction()
  const id = `alert-${code}`
  const change = (part: Partial<AlertSetting>): void =>
    void run(async () => {
      onSaved(await act<AlertsReport>('PUT', '/api/alerts', { [code]: part }))
      setDraft(null)
    }).then(() => setWish(null))
  const typed = draft === null ? threshold : thresholdOf(draft)
  const save = (): void => {
    if (typed === threshold) setDraft(null)
    else if (typed !== null) change({ threshold: typed })
  }
  const wrong = typed === null ? 'This is no number.' : trouble?.message
  return (
    <form
      noValidate
      class={`option-row ${on ? '' : 'is-off'}`}
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
    >
      <label class="name">
        <input
          type="checkbox"
          checked={wish ?? on}
          disabled={isFixed}
          onChange={({ currentTarget }) => {
            setWish(currentTarget.checked)
            change({ on: currentTarget.checked })
          }}
        />
        {title}
      </label>
      <div class="control row">
        <input
          id={id}
          class="field"
          type="text"
          inputMode="decimal"
          autocomplete="off"
          aria-label={`${title}: threshold`}
          aria-describedby={`${id}-about`}
          aria-invalid={wrong === undefined ? undefined : 'true'}
          disabled={isFixed}
          value={draft ?? String(threshold)}
          onInput={({ currentTarget }) => setDraft(currentTarget.value)}
          onBlur={save}
        />
        <span class="unit quiet">{unit}</span>
      </div>
      <p class="bad" role="alert">
        {wrong}
      </p>
      <p id={`${id}-about`} class="about quiet">
        {asks} {threshold === usual ? '' : `The default is ${count(usual)}.`}
      </p>
    </form>
  )
}

function switchedOffWords(rules: AlertsReport['rules']): string {
  const off = rules.filter(({ on }) => !on).length
  return off === 0 ? '' : `${off} switched off`
}

function testWords({ delivered, detail }: AlertTest, { receiver }: AlertsReport): string {
  return `${receiver?.host ?? 'The webhook'} ${delivered ? 'took the test' : 'did not take the test'}: ${detail}`
}
