import './now-card.css'
import type { ComponentChildren, JSX } from 'preact'
import type { HealthReport } from '../../src/api/health-report.ts'
import { Card } from '../design/card.tsx'
import { Meter } from '../design/meter.tsx'
import { type Tone, budgetOf } from '../data/gateway-now.ts'
import { count, shortCount, unknownFigure } from '../format/figures.ts'

/** More slots than these are shown as a bar. */
const mostSlots = 16

/** The running gateway's figures; without one there are none. */
export function NowCard({ health }: { readonly health: HealthReport | null }): JSX.Element {
  if (health === null) return <NoFigures />
  const { rate_limiter: calls, token_budget: tokens, telemetry } = health
  const budget = budgetOf(tokens)
  return (
    <Card title="Right now" class="now-card">
      <dl>
        <Figure
          name="In flight"
          id="active"
          value={count(calls.active)}
          of={`of ${count(calls.max_concurrent)}`}
          detail={`${count(calls.peak_active)} at peak, ${shortCount(calls.total_admitted)} so far`}
        >
          <Slots active={calls.active} most={calls.max_concurrent} />
        </Figure>
        <Figure
          name="Waiting"
          id="queued"
          value={count(calls.queued)}
          detail={`${shortCount(calls.total_queued)} had to wait so far`}
          tone={calls.queued > 0 ? 'queue' : ''}
        />
        <Figure
          name="Tokens in 24 hours"
          id="budget"
          value={budget?.shareWords ?? unknownFigure}
          detail={`${shortCount(tokens.total_used)} of ${shortCount(tokens.daily_limit)}`}
          tone={budget === null ? 'none' : budget.tone}
        >
          <Meter share={budget?.share ?? 0} />
        </Figure>
        <Figure
          name="Recorded"
          id="written"
          value={shortCount(telemetry.written)}
          detail={recordedWords(telemetry)}
          tone={telemetry.dropped > 0 ? 'bad' : ''}
        />
      </dl>
    </Card>
  )
}

/** In the same place and size, so that nothing moves when the gateway comes up. */
function NoFigures(): JSX.Element {
  return (
    <Card title="Right now" about="no gateway runs" class="now-card">
      <dl>
        {['In flight', 'Waiting', 'Tokens in 24 hours', 'Recorded'].map((name) => (
          <Figure key={name} name={name} value={unknownFigure} detail="" tone="none" />
        ))}
      </dl>
    </Card>
  )
}

interface FigureProps {
  readonly name: string
  readonly id?: string
  readonly value: string
  readonly of?: string
  readonly detail: string
  readonly tone?: Tone | '' | 'none' | 'queue'
  readonly children?: ComponentChildren
}

function Figure({ name, id, value, of, detail, tone = '', children }: FigureProps): JSX.Element {
  return (
    <div class={`figure ${tone === 'quiet' ? '' : tone}`}>
      <dt>{name}</dt>
      <dd>
        <strong id={id}>{value}</strong>
        {of !== undefined && (
          <>
            {' '}
            <span class="quiet" id={id === undefined ? undefined : `${id}-of`}>
              {of}
            </span>
          </>
        )}
        {children}
        <p class="quiet" id={id === undefined ? undefined : `${id}-detail`}>
          {detail}
        </p>
      </dd>
    </div>
  )
}

/** A place for each slot, filled where it is in use. What it says stands beside it. */
function Slots({ active, most }: { readonly active: number; readonly most: number }): JSX.Element {
  if (most > mostSlots) return <Meter share={active / most} />
  return (
    <span class="slots" aria-hidden="true">
      {Array.from({ length: most }, (_, at) => (
        <span key={at} class={at < active ? 'used' : ''} />
      ))}
    </span>
  )
}

function recordedWords({ pending, dropped }: HealthReport['telemetry']): string {
  const lost = dropped === 0 ? 'none lost' : `${count(dropped)} lost`
  return `${count(pending)} to be written, ${lost}`
}
