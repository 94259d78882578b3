import type { ProcessStatus } from '../../src/api/process-status.ts'
import type { ProxyConfig } from '../../src/api/proxy-config.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { baseUrlOf, gatewayNow, gatewayStates } from '../data/gateway-now.ts'
import { type GatewayAction, curlLine, detailOf, keyWords, wrongBaseUrlWords } from './gateway-text.ts'
import { useTimes } from '../data/navigation.tsx'
import { Button } from '../design/button.tsx'
import { CopyButton } from '../design/copy-button.tsx'
import { DescriptionList } from '../design/description-list.tsx'
import { Banner } from '../design/banner.tsx'
import { StateMark } from '../design/icon.tsx'
import { useTick } from '../design/use-tick.ts'
import { longDuration, unknownFigure } from '../format/figures.ts'
import type { GatewayActions } from './use-gateway-actions.tsx'

export interface StateCardProps {
  readonly status: ProcessStatus
  readonly config: ProxyConfig | null
  readonly actions: GatewayActions
}

/** The gateway's state, the buttons that change it, and its addresses. */
export function StateCard({ status, config, actions }: StateCardProps) {
  const { state, simulated, pid, instance, health } = status
  const { shape, tone } = gatewayNow(status)
  const baseUrl = baseUrlOf(status, location.hostname)
  const wrongCalls = health?.wrong_base_url_calls ?? 0
  const curl = curlLine(baseUrl, config?.upstream_key !== 'lent' && !simulated)
  const runText = `${instance === null ? '' : `, instance ${instance}`}${health === null ? '' : `, version ${health.version}`}`
  return (
    <section class="card state-card" aria-labelledby="state-heading">
      <h2 id="state-heading" class="aside">
        State
      </h2>
      <div class={`state row wraps is-${tone}`}>
        <StateMark shape={shape} size={20} />
        <p class="words">
          <strong id="gateway-state" role="status">
            {gatewayStates[state].words}
          </strong>{' '}
          <span id="gateway-detail" class="quiet">
            {detailOf(status)}
          </span>
        </p>
        <Buttons status={status} actions={actions} />
      </div>
      <Notes status={status} actions={actions} />
      <DescriptionList
        class="facts divided stack"
        facts={[
          [
            'Base URL',
            <>
              <Line id="base-url" what="the base URL" text={baseUrl} />
              {wrongCalls > 0 && (
                <p id="wrong-base-url" class="quiet">
                  {wrongBaseUrlWords(wrongCalls)}
                </p>
              )}
            </>,
          ],
          ['Try it', <Line id="curl" what="the curl line" text={curl} />],
          [
            'Upstream',
            <>
              <code id="upstream">{status.upstream}</code>
              <p id="upstream-key" class="quiet">
                {config === null ? unknownFigure : keyWords[config.upstream_key]}
              </p>
            </>,
          ],
          ['Process', <span id="process">{pid === null ? 'none' : `${pid}${runText}`}</span>],
          ['Up since', <UpSince status={status} />],
        ]}
      />
    </section>
  )
}

type ActingProps = Pick<StateCardProps, 'status' | 'actions'>

/** The button that starts or stops the gateway keeps the focus when the state changes. */
function Buttons({ status: { state }, actions: { busy, canDo, press } }: ActingProps) {
  const isUp = state !== 'stopped' && state !== 'starting' && state !== 'foreign'
  const power: GatewayAction = busy === 'start' || busy === 'stop' ? busy : isUp ? 'stop' : 'start'
  const isStarting = busy === 'start' || (busy === null && state === 'starting')
  const isStopping = busy === 'stop' || (busy === null && state === 'draining')
  return (
    <div class="buttons row wraps at-end">
      <Button isOff={!canDo('restart')} onClick={() => press('restart')}>
        {busy === 'restart' ? 'Restarting…' : 'Restart'}
      </Button>
      <Button
        {...(power === 'start' ? { kind: 'strong' } : {})}
        isOff={!canDo(power)}
        onClick={() => press(power)}
      >
        {isStarting ? 'Starting…' : isStopping ? 'Stopping…' : power === 'stop' ? 'Stop' : 'Start'}
      </Button>
    </div>
  )
}

/** All errors and warnings. */
function Notes({ status, actions: { error, forgetError } }: ActingProps) {
  const times = useTimes()
  const { crash, health, simulated } = status
  // The message repeats the crash until the gateway has been started again.
  const message =
    crash !== null && status.state === 'stopped' && crash.failed_starts === 0 ? null : status.message
  const warnings = health?.warnings ?? []
  const isToldTwice = error !== null && message?.includes(error.message) === true
  return (
    <div class="state-notes stack">
      {simulated && (
        <Banner title="Simulated.">
          The demo’s own upstream responds with made-up text; no real model is called.
        </Banner>
      )}
      {crash !== null && (
        <Banner id="crash" tone={crash.state === 'started_again' ? 'warn' : 'bad'}>
          {times.short(Date.parse(crash.at))}: {crash.text}
          {crash.next_start_at !== null && ` Next start: ${times.short(Date.parse(crash.next_start_at))}.`}
        </Banner>
      )}
      {message !== null && !isToldTwice && (
        <Banner id="message" tone="warn">
          {message}
        </Banner>
      )}
      {warnings.length > 0 && (
        <Banner id="warnings" tone="warn">
          <ul aria-label="Warnings">
            {warnings.map(({ message }) => (
              <li key={message}>{message}</li>
            ))}
          </ul>
        </Banner>
      )}
      {error !== null && (
        <Banner
          id="gateway-error"
          tone="bad"
          actions={<Button kind="bare" small icon="close" label="Dismiss" onClick={forgetError} />}
        >
          <p>{error.message}</p>
          {error.log.length > 0 && (
            <pre
              id="gateway-error-log"
              class="code-block wrapped"
              role="region"
              aria-label="Last lines of the gateway’s log"
              tabIndex={0}
            >
              {error.log.join('\n')}
            </pre>
          )}
        </Banner>
      )}
    </div>
  )
}

interface LineProps {
  readonly id: string
  readonly what: string
  readonly text: string
}

/** A text to copy. */
function Line({ id, what, text }: LineProps) {
  return (
    <div class="line inset row">
      <code id={id}>{text}</code>
      <CopyButton text={text} what={what} />
    </div>
  )
}

/** The gateway's start, by the dashboard's clock. */
function UpSince({ status }: Pick<StateCardProps, 'status'>) {
  const times = useTimes()
  useTick()
  const { started_at: startedAt } = status
  if (startedAt === null) return <span id="up-since">{unknownFigure}</span>
  const startedMs = Date.parse(startedAt)
  return (
    <span id="up-since">
      <time dateTime={startedAt} title={times.inUtc(startedMs)}>
        {times.full(startedMs)}
      </time>
      , {longDuration(Math.floor(Math.max(0, nowMs() - startedMs) / 1000))}
    </span>
  )
}
