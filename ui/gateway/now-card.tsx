import type { ComponentChildren } from 'preact'
import type { ProcessStatus } from '../../src/api/process-status.ts'
import { type Tone, budgetOf, finishingCalls, fullUpstream } from '../data/gateway-now.ts'
import { Card } from '../design/card.tsx'
import { explained } from '../design/meanings.ts'
import { Meter, SlotCells } from '../design/meter.tsx'
import { count, unknownFigure } from '../format/figures.ts'
import { budgetWords } from './gateway-text.ts'

/** The most slots that are drawn as cells. More slots are drawn as a bar. */
const mostSlots = 16

/**
 * The running gateway's figures. Without a gateway, their places stay empty, so that nothing moves when it starts.
 */
export function NowCard({ status }: { readonly status: ProcessStatus }) {
  const { health } = status
  if (health === null) {
    return (
      <Card title="Right now" about="no gateway runs" class="now-card">
        <dl>
          {['In flight', 'Waiting', 'Tokens in 24 hours', 'Recorded'].map((name) => (
            <Figure key={name} name={name} value={unknownFigure} tone="none" />
          ))}
        </dl>
      </Card>
    )
  }
  const { rate_limiter: calls, token_budget: tokens, telemetry, shared } = health
  const { pending, dropped } = telemetry
  const budget = budgetOf(tokens)
  const full = fullUpstream(health)
  const { active, max_concurrent: slots } = full?.rate_limiter ?? calls
  const finishing = finishingCalls(status)
  return (
    <Card title="Right now" class="now-card">
      <dl>
        <Figure
          name="In flight"
          id="active"
          value={count(active)}
          of={`of ${count(slots)}${full === null ? '' : ` at ${full.name}`}${(shared?.gateways ?? 1) > 1 ? ' across gateways' : ''}`}
          detail={[
            finishing === 0 ? [] : `${count(finishing)} more finishing in the previous process`,
            full === null ? [] : `${count(calls.active)} of ${count(calls.max_concurrent)} across upstreams`,
            `peak ${count(calls.peak_active)}`,
            `${count(calls.total_admitted)} since start`,
          ]
            .flat()
            .join(', ')}
        >
          <SlotCells active={active} slots={slots} most={mostSlots} />
        </Figure>
        <Figure
          name="Waiting"
          id="queued"
          value={count(calls.queued)}
          detail={`${count(calls.total_queued)} waited since start`}
          tone={calls.queued > 0 ? 'queue' : ''}
        />
        <Figure
          name="Tokens in 24 hours"
          id="budget"
          value={budget?.shareWords ?? unknownFigure}
          detail={budgetWords(tokens)}
          tone={budget?.tone ?? 'none'}
        >
          <Meter share={budget?.share ?? 0} />
        </Figure>
        <Figure
          name="Recorded"
          id="written"
          value={count(telemetry.written)}
          detail={`${count(pending)} pending, ${count(dropped)} lost`}
          tone={dropped > 0 ? 'bad' : ''}
        />
      </dl>
    </Card>
  )
}

interface FigureProps {
  readonly name: string
  readonly id?: string
  readonly value: string
  readonly of?: string
  readonly detail?: string
  readonly tone?: Tone | '' | 'none' | 'queue'
  readonly children?: ComponentChildren
}

function Figure({ name, id, value, of, detail, tone = '', children }: FigureProps) {
  const idOf = (part: string): string | undefined => (id === undefined ? undefined : `${id}-${part}`)
  return (
    <div class={tone === 'quiet' ? '' : tone}>
      <dt class="fine" {...explained(name)}>
        {name}
      </dt>
      <dd>
        <strong id={id}>{value}</strong>{' '}
        {of !== undefined && (
          <span class="quiet" id={idOf('of')}>
            {of}
          </span>
        )}
        {children}
        <p class="quiet" id={idOf('detail')}>
          {detail}
        </p>
      </dd>
    </div>
  )
}
