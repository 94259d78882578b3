import type { HealthReport } from '../../api/health-report.ts'
import type { GatewayState, ProcessStatus } from '../../api/process-status.ts'
import { count, counted, percent, shortCount } from './figures.ts'
import { displayWidth, shorten } from './display-width.ts'
import { printable } from './printable.ts'
import { paint, type Tone } from './paint.ts'

export interface StatusLineOptions {
  /** What the line may take at most. */
  readonly columns: number
  /** Repeats what the words say. */
  readonly color: boolean
}

/** How a state is shown. */
interface StateWords {
  readonly mark: string
  readonly tone: Tone
  readonly words: (status: ProcessStatus) => string
}

/** What follows the state. The lowest rank is dropped last. */
interface Part {
  readonly rank: number
  readonly text: string
  readonly tone?: Tone
}

const stateGap = '   '
const partGap = ' · '

/** How a gateway is, in one line: `● running   2 in flight of 4 · 3 waiting · 1,204 calls`. */
export function statusLine(status: ProcessStatus, { columns, color }: StatusLineOptions): string {
  const state = states[status.state]
  const head = shorten(`${state.mark} ${stateText(status)}`, columns)
  const parts = fitting(partsOf(status), columns - displayWidth(head) - stateGap.length)
  if (parts.length === 0) return paint(state.tone, head, color)
  const texts = parts.map(({ tone = 'plain', text }) => paint(tone, text, color))
  return paint(state.tone, head, color) + stateGap + texts.join(partGap)
}

/** The state in words alone, and why it is so: `stopped: The gateway ended with exit code 1.` */
export function stateText(status: ProcessStatus): string {
  const { state, message } = status
  const words = states[state].words(status)
  // While it runs, what it does is more than what is to be said of it.
  if (message === null || state === 'running') return words
  // Who holds the port says that it is taken.
  return state === 'foreign' ? printable(message) : `${words}: ${printable(message)}`
}

const states: Readonly<Record<GatewayState, StateWords>> = {
  starting: { mark: '◐', tone: 'left', words: () => 'starting' },
  running: {
    mark: '●',
    tone: 'good',
    words: ({ simulated }) => (simulated ? 'running (simulated)' : 'running'),
  },
  draining: { mark: '◐', tone: 'left', words: ({ health }) => `draining${mayFinish(health)}` },
  stopped: { mark: '○', tone: 'faint', words: () => 'stopped' },
  unresponsive: { mark: '✗', tone: 'failed', words: () => 'not responding' },
  foreign: { mark: '✗', tone: 'failed', words: ({ port }) => `port ${port} is taken by something else` },
}

function mayFinish(health: HealthReport | null): string {
  return health === null ? '' : `: ${counted(health.rate_limiter.active, 'call')} may finish`
}

/** In the order in which they are shown. */
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
  if (parts.length === 0 || displayWidth(parts.map((part) => part.text).join(partGap)) <= columns)
    return parts
  const last = Math.max(...parts.map((part) => part.rank))
  return fitting(
    parts.filter((part) => part.rank !== last),
    columns,
  )
}
