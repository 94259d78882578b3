import type { HealthReport } from '../../api/health-report.ts'
import type { GatewayState, ProcessStatus } from '../../api/process-status.ts'
import { count, counted, percent, shortCount } from '../../lib/number-format.ts'
import { displayWidth, shorten } from './display-width.ts'
import { printable } from './printable.ts'
import { paint, type Tone } from './paint.ts'

/** The parts after the state. The lowest rank is dropped last. */
interface Part {
  readonly rank: number
  readonly text: string
  readonly tone?: Tone
}

const stateGap = '   '
const partGap = ' · '

/** The state of a gateway in one line: `● running   2 in flight of 4 · 3 waiting · 1,204 calls`. */
export function statusLine(
  status: ProcessStatus,
  { columns, color }: { readonly columns: number; readonly color: boolean },
): string {
  const { mark, tone } = states[status.state]
  const head = paint(tone, shorten(`${mark} ${stateText(status)}`, columns), color)
  const parts = fitting(partsOf(status), columns - displayWidth(head) - stateGap.length)
  if (parts.length === 0) return head
  const texts = parts.map((part) => paint(part.tone ?? 'plain', part.text, color))
  return head + stateGap + texts.join(partGap)
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

/** The parts of the line, in order. */
function partsOf(status: ProcessStatus): Part[] {
  const { state, health, health_ok: healthOk, message } = status
  if (state !== 'running') return []
  const parts: Part[] = []
  if (!healthOk) parts.push({ rank: 0, text: `no answer on port ${status.port}`, tone: 'failed' })
  if (health !== null) parts.push(...figuresOf(health))
  if (healthOk && message !== null) parts.push({ rank: 5, text: printable(message), tone: 'left' })
  return parts
}

function figuresOf({ rate_limiter: slots, token_budget: budget, warnings }: HealthReport): Part[] {
  const used = `${percent(budget.percentage_used / 100)} of ${shortCount(budget.daily_limit)}`
  const figures: Part[] = [
    { rank: 1, text: `${count(slots.active)} in flight of ${count(slots.max_concurrent)}` },
    { rank: 2, text: `${count(slots.queued)} waiting` },
    { rank: 4, text: counted(slots.total_admitted, 'call') },
    { rank: 6, text: `budget ${used}`, ...(budget.percentage_used >= 100 ? { tone: 'left' } : {}) },
  ]
  if (warnings.length > 0) {
    figures.push({ rank: 3, text: counted(warnings.length, 'warning'), tone: 'left' })
  }
  return figures
}

/** Drops the part of the highest rank until the rest fits. */
function fitting(parts: readonly Part[], columns: number): readonly Part[] {
  if (parts.length === 0 || displayWidth(parts.map(({ text }) => text).join(partGap)) <= columns) return parts
  const last = Math.max(...parts.map(({ rank }) => rank))
  return fitting(
    parts.filter(({ rank }) => rank !== last),
    columns,
  )
}
