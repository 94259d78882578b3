import type { HealthReport } from '../../api/health-report.ts'
import type { GatewayState, ProcessStatus } from '../../api/process-status.ts'
import { count, counted, percent, shortCount } from '../../lib/number-format.ts'
import { shorten } from './display-width.ts'
import { printable } from './printable.ts'
import { paint, type Tone } from './paint.ts'
import { fitting } from './table-layout.ts'

/**
 * The state of a gateway in one line, the most important part first: `● running · 2 in flight of 4 · 3 waiting · 1,204
 * calls`.
 */
export function statusLine(
  status: ProcessStatus,
  { columns, color }: { readonly columns: number; readonly color: boolean },
): string {
  const { mark, tone } = states[status.state]
  const head = paint(tone, shorten(`${mark} ${stateText(status)}`, columns), color)
  return fitting([head, ...partsOf(status, color)], columns)
}

/** The state and its reason in words: `stopped: The gateway ended with exit code 1.` */
export function stateText({ state, message, simulated, health, port }: ProcessStatus): string {
  const { words } = states[state]
  // A running gateway's figures say more than a message.
  if (state === 'running') return simulated ? `${words} (simulated)` : words
  // The message names the process that holds the port.
  if (state === 'foreign') return message === null ? `port ${port} ${words}` : printable(message)
  const finishing = state === 'draining' && health !== null ? health.rate_limiter.active : null
  const why = finishing === null ? '' : `: finishing ${counted(finishing, 'call')}`
  return `${words}${why}${message === null ? '' : `: ${printable(message)}`}`
}

const states: Readonly<
  Record<GatewayState, { readonly mark: string; readonly tone: Tone; readonly words: string }>
> = {
  starting: { mark: '◐', tone: 'left', words: 'starting' },
  running: { mark: '●', tone: 'good', words: 'running' },
  draining: { mark: '◐', tone: 'left', words: 'draining' },
  stopped: { mark: '○', tone: 'faint', words: 'stopped' },
  unresponsive: { mark: '✗', tone: 'failed', words: 'not responding' },
  foreign: { mark: '✗', tone: 'failed', words: 'is in use by another program' },
}

/** The parts after the state. */
function partsOf(status: ProcessStatus, color: boolean): readonly string[] {
  const { state, health, health_ok: healthOk, message, port } = status
  if (state !== 'running') return []
  const parts = health === null ? [] : figuresOf(health, color)
  if (!healthOk) return [paint('failed', `no answer on port ${port}`, color), ...parts]
  return message === null ? parts : [...parts, paint('left', printable(message), color)]
}

function figuresOf(health: HealthReport, color: boolean): readonly string[] {
  const { rate_limiter: slots, token_budget: budget, warnings } = health
  const used = `${percent(budget.percentage_used / 100)} of ${shortCount(budget.daily_limit)}`
  return [
    `${count(slots.active)} in flight of ${count(slots.max_concurrent)}`,
    `${count(slots.queued)} waiting`,
    ...(warnings.length > 0 ? [paint('left', counted(warnings.length, 'warning'), color)] : []),
    counted(slots.total_admitted, 'call'),
    paint(budget.percentage_used >= 100 ? 'left' : 'plain', `budget ${used}`, color),
  ]
}
