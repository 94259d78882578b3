import './state-card.css'
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ProcessStatus } from '../../src/api/process-status.ts'
import type { ProxyConfig } from '../../src/api/proxy-config.ts'
import { useLive } from '../data/live.ts'
import { CopyButton } from '../design/copy-button.tsx'
import { StateMark } from '../design/state-mark.tsx'
import { longDuration, unknownFigure } from '../format/figures.ts'
import type { Times } from '../format/times.ts'
import { gatewayNow } from '../data/gateway-now.ts'
import { type GatewayAction, curlLine, detailOf, keyWords, wrongBaseUrlWords } from '../data/gateway-words.ts'
import { baseUrlOf, stateWords } from '../data/gateway-now.ts'
import { StateNotes } from './state-notes.tsx'
import type { GatewayActions } from './use-gateway-actions.ts'

export interface StateCardProps {
  readonly status: ProcessStatus
  readonly config: ProxyConfig | null
  readonly actions: GatewayActions
  readonly times: Times
}

/** What the gateway is, what can be done with it, and where it is. */
export function StateCard({ status, config, actions, times }: StateCardProps): JSX.Element {
  const { state, simulated } = status
  const detail = detailOf(status)
  const { shape, tone } = gatewayNow(status)
  const baseUrl = baseUrlOf(status, location.hostname)
  const wrongCalls = status.health?.wrong_base_url_calls ?? 0
  const curl = curlLine(baseUrl, config?.upstream_key !== 'lent' && !simulated)
  return (
    <section class="card state-card" aria-labelledby="state-heading">
      <h2 id="state-heading" class="aside">
        State
      </h2>
      <div class={`state is-${tone}`}>
        <StateMark shape={shape} size={20} />
        <p class="words">
          <strong id="gateway-state" role="status">
            {stateWords[state]}
          </strong>{' '}
          <span id="gateway-detail" class="quiet">
            {detail}
          </span>
        </p>
        <Buttons status={status} actions={actions} />
      </div>
      <StateNotes status={status} actions={actions} />
      <dl class="facts">
        <Fact name="Base URL">
          <Line id="base-url" what="the base URL" text={baseUrl} />
          {wrongCalls > 0 && (
            <p id="wrong-base-url" class="quiet">
              {wrongBaseUrlWords(wrongCalls)}
            </p>
          )}
        </Fact>
        <Fact name="Try it">
          <Line id="curl" what="the curl line" text={curl} />
        </Fact>
        <Fact name="Upstream">
          <code id="upstream">{status.upstream}</code>
          <p id="upstream-key" class="quiet">
            {config === null ? unknownFigure : keyWords[config.upstream_key]}
          </p>
        </Fact>
        <Fact name="Process">
          <span id="process">{processWords(status)}</span>
        </Fact>
        <Fact name="Up since">
          <UpSince status={status} times={times} />
        </Fact>
      </dl>
    </section>
  )
}

interface ButtonsProps {
  readonly status: ProcessStatus
  readonly actions: GatewayActions
}

/** One button starts and stops, so that it keeps the focus when the state changes; what it does first is asked. */
function Buttons({ status, actions }: ButtonsProps): JSX.Element {
  const { busy, canDo, press } = actions
  const isUp = status.state !== 'stopped' && status.state !== 'starting' && status.state !== 'foreign'
  const power: GatewayAction = busy === 'start' || busy === 'stop' ? busy : isUp ? 'stop' : 'start'
  const isStarting = busy === 'start' || (busy === null && status.state === 'starting')
  const isStopping = busy === 'stop' || (busy === null && status.state === 'draining')
  const words = isStarting ? 'Starting…' : isStopping ? 'Stopping…' : power === 'stop' ? 'Stop' : 'Start'
  return (
    <div class="buttons">
      <button type="button" class="button" aria-disabled={!canDo('restart')} onClick={() => press('restart')}>
        {busy === 'restart' ? 'Restarting…' : 'Restart'}
      </button>
      <button
        type="button"
        class={`button ${power === 'start' ? 'strong' : ''}`}
        aria-disabled={!canDo(power)}
        onClick={() => press(power)}
      >
        {words}
      </button>
    </div>
  )
}

function Fact({
  name,
  children,
}: {
  readonly name: string
  readonly children: ComponentChildren
}): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

interface LineProps {
  readonly id: string
  readonly what: string
  readonly text: string
}

/** Something to be typed elsewhere. */
function Line({ id, what, text }: LineProps): JSX.Element {
  return (
    <div class="line">
      <code id={id}>{text}</code>
      <CopyButton text={text} what={what} />
    </div>
  )
}

function processWords({ pid, instance, health }: ProcessStatus): string {
  if (pid === null) return 'none'
  const parts = [instance === null ? null : `instance ${instance}`, health && `version ${health.version}`]
  return [String(pid), ...parts.filter((part) => part !== null)].join(', ')
}

/** Goes on by the page's own clock until the dashboard tells again. */
function UpSince({ status, times }: { readonly status: ProcessStatus; readonly times: Times }): JSX.Element {
  const statusMs = useLive(({ statusMs }) => statusMs)
  const [nowMs, setNowMs] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  const { started_at: startedAt, uptime_s: uptimeS } = status
  if (startedAt === null || uptimeS === null) return <span id="up-since">{unknownFigure}</span>
  const startedMs = Date.parse(startedAt)
  const passedS = Math.max(0, nowMs - statusMs) / 1000
  return (
    <span id="up-since">
      <time dateTime={startedAt} title={times.inUtc(startedMs)}>
        {times.full(startedMs)}
      </time>
      , for {longDuration(Math.floor(uptimeS + passedS))}
    </span>
  )
}
