import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { AlertRuleReport, AlertSetting, AlertsReport, AlertTest } from '../../src/api/alerts.ts'
import { act } from '../data/dashboard-api.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { useLive } from '../data/live.ts'
import { useTimes } from '../data/navigation.tsx'
import { useAction } from '../data/use-action.ts'
import { useQuery } from '../data/use-query.ts'
import { Awaited } from '../design/awaited.tsx'
import { Button } from '../design/button.tsx'
import { Card } from '../design/card.tsx'
import { Icon } from '../design/icon.tsx'
import { Note } from '../design/note.tsx'
import { count, counted } from '../format/figures.ts'
import { typedNumber } from '../format/typed-number.ts'
import { arrivalWords, headOf, messageWords, receiverWords } from './alert-words.ts'
import { SettingRow } from './setting-row.tsx'

const everyMs = 10_000
/** While a message is on its way. */
const soonMs = 1000

/** What the alert rules say is so, the rules themselves, and the last messages. */
export function AlertsCard() {
  const active = useLive(({ alerts }) => alerts)
  const path = (): string => '/api/alerts'
  const [isSoon, setSoon] = useState(false)
  const asked = useQuery<AlertsReport>(JSON.stringify(active), path, {
    everyMs: isSoon ? soonMs : everyMs,
  })
  const { answer: report, again, put } = asked
  const isUnderWay = (report?.pending ?? 0) > 0
  useEffect(() => setSoon(isUnderWay), [isUnderWay])
  const [tested, setTested] = useState<AlertTest | null>(null)
  const test = useAction()
  if (report === null) return <Awaited what="The alerts" {...asked} height="9rem" />
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
          <RuleRow key={rule.code} rule={rule} isLocked={report.problem !== null} onSaved={put} />
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
  if (active.length === 0) return <p class="quiet">No active alerts.</p>
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
  readonly isLocked: boolean
  readonly onSaved: (report: AlertsReport) => void
}

/** A rule with its switch and its threshold, each kept as it is changed. */
function RuleRow({ rule, isLocked, onSaved }: RuleRowProps) {
  const { code, title, asks, unit, on, threshold, usual } = rule
  const [draft, setDraft] = useState<string | null>(null)
  /** What was switched and is not kept yet. */
  const [wish, setWish] = useState<boolean | null>(null)
  const { run, trouble } = useAction()
  // One after the other: a press on the switch also leaves the field, which saves it.
  const last = useRef(Promise.resolve())
  const change = (part: Partial<AlertSetting>, done: () => void): void => {
    last.current = last.current.then(() =>
      run(async () => {
        onSaved(await act<AlertsReport>('PUT', '/api/alerts', { [code]: part }))
        if (part.threshold !== undefined) setDraft(null)
      }).then(done),
    )
  }
  const typed = draft === null ? threshold : typedNumber(draft)
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
      value={draft ?? numberText(threshold)}
      unit={unit}
      isNumber
      isDisabled={isLocked}
      error={
        typed === null
          ? 'Enter a number of 0 or more, such as 1500 or 1.5; not 1,500.'
          : (trouble?.message ?? null)
      }
      about={`${asks} ${threshold === usual ? '' : `The default is ${numberText(usual)}.`}`}
      onInput={setDraft}
      onChange={() => {
        if (typed === threshold) setDraft(null)
        else if (typed !== null) change({ threshold: typed }, () => undefined)
      }}
    />
  )
}

/** As it is typed: a threshold may have a fraction. */
function numberText(value: number): string {
  return Number.isInteger(value) ? count(value) : String(value)
}

function switchedOffWords(rules: AlertsReport['rules']): string {
  const off = rules.filter(({ on }) => !on).length
  return off === 0 ? '' : `${off} switched off`
}

function testWords({ delivered, detail }: AlertTest, { receiver }: AlertsReport): string {
  return `${receiver?.host ?? 'The webhook'} ${delivered ? 'took the test' : 'did not take the test'}: ${detail}`
}
