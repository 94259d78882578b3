import { dirname } from 'node:path'
import type { LiveCall } from '../../api/live-calls.ts'
import { ControlClient } from '../../control/control-client.ts'
import { controlFolder } from '../../control/control-folder.ts'
import { messageOf } from '../../lib/errors.ts'
import { optionTable } from '../../options/option-spec.ts'
import { startPoll } from '../../supervisor/poll.ts'
import { CommandError, exitCode } from '../exit-code.ts'
import { database, flag } from '../option-rows.ts'
import type { CommandRun } from '../parse-options.ts'
import { onStopSignal } from '../stop-signal.ts'
import { type Board, boardColumns, boardHead } from '../terminal/board-lines.ts'
import { shorten } from '../terminal/display-width.ts'
import { type FullScreen, openFullScreen } from '../terminal/full-screen.ts'
import { paint } from '../terminal/paint.ts'
import { printable } from '../terminal/printable.ts'
import { tableOf } from '../terminal/table-layout.ts'
import { lineStyle, type Terminal } from '../terminal/terminal.ts'
import { reportFault } from '../../lib/fault.ts'

export const table = optionTable({
  once: flag('print the calls that are under way now, and end; so it is also where nobody watches'),
  json: flag('the same as one JSON object, as GET /api/live answers it'),
  db: database(
    'file of the telemetry database: in its folder lies the socket of the gateway that is watched',
  ),
})

const everyMs = 1000
/** Over so many looks calls are counted. */
const mostLooks = 10
/** A gateway that does not answer so many looks in a row has gone away. */
const patience = 3
/** By how many calls each key moves the mark. */
const steps = new Map(Object.entries({ up: -1, k: -1, down: 1, j: 1, home: -Infinity, end: Infinity }))
const help = 'up/down mark · c cancel · q quit'

/** `tokenweir top`: the calls under way, as they are. */
export const run: CommandRun<typeof table> = async (options, { terminal }) => {
  const gateway = new WatchedGateway(new ControlClient(controlFolder(dirname(options.db))))
  const board = await gateway.look().catch((error: unknown) => {
    throw new CommandError(messageOf(error))
  })
  if (board === null) {
    const advice = 'start one with "tokenweir gateway", or name its database with --db'
    const message = `no gateway answers in ${dirname(options.db)}: ${advice}`
    throw new CommandError(message, exitCode.noGateway)
  }
  if (options.json) terminal.print(`${JSON.stringify(board.live)}\n`)
  else if (options.once || !terminal.isWatched || !process.stdin.isTTY)
    terminal.print(`${printed(board, terminal)}\n`)
  else return new Top(gateway, terminal).run(board)
  return 0
}

function printed(board: Board, terminal: Terminal): string {
  const style = lineStyle(terminal)
  const { header, line } = tableOf(boardColumns, board.live.calls, style)
  const rows = board.live.calls.map((call) => line(call))
  return [boardHead(board, style), ...(rows.length === 0 ? [] : [header, ...rows])].join('\n')
}

/** Looks at a gateway, and counts how many calls got a slot between looks. */
class WatchedGateway {
  readonly client: ControlClient
  readonly #looks: { readonly atMs: number; readonly instance: string; readonly admitted: number }[] = []

  constructor(client: ControlClient) {
    this.client = client
  }

  /** Null if none answers. Rejects in words if it cannot be asked. */
  async look(): Promise<Board | null> {
    const [status, live] = await Promise.all([this.client.status(), this.client.live()])
    if (typeof status === 'string' || typeof live === 'string') return null
    const { instance, health } = status
    const slots = health.rate_limiter
    const now = { atMs: performance.now(), instance, admitted: slots.total_admitted }
    if (this.#looks.at(-1)?.instance !== instance) this.#looks.length = 0
    this.#looks.push(now)
    if (this.#looks.length > mostLooks) this.#looks.shift()
    const [first = now] = this.#looks
    const seconds = (now.atMs - first.atMs) / 1000
    return { slots, live, callsPerS: seconds > 0 ? (now.admitted - first.admitted) / seconds : null }
  }
}

/** The board on the whole terminal, drawn anew with each look and each key. */
class Top {
  readonly #gateway: WatchedGateway
  readonly #terminal: Terminal
  readonly #ended = Promise.withResolvers<number>()
  #screen: FullScreen | null = null
  #board: Board | null = null
  #markedId: string | null = null
  #markedAt = 0
  /** Whether to cancel it is being asked. */
  #asked: LiveCall | null = null
  /** The last word of what was done. */
  #notice = ''
  #misses = 0

  constructor(gateway: WatchedGateway, terminal: Terminal) {
    this.#gateway = gateway
    this.#terminal = terminal
  }

  async run(first: Board): Promise<number> {
    const { clock, signal } = this.#terminal
    const end = (): void => this.#ended.resolve(0)
    onStopSignal(async () => end())
    signal.addEventListener('abort', end)
    this.#screen = openFullScreen({ key: (key) => this.#press(key), resize: () => this.#draw(), end })
    this.#show(first)
    const look = (): Promise<Board | null> => this.#gateway.look().catch(() => null)
    const poll = startPoll({ clock, everyMs, look, onFault: () => {} }, (board) => this.#show(board))
    try {
      return await this.#ended.promise
    } finally {
      poll.stop()
      this.#screen.close()
      if (this.#misses >= patience) this.#terminal.warn('tokenweir: the gateway has gone away\n')
    }
  }

  get #calls(): readonly LiveCall[] {
    return this.#board?.live.calls ?? []
  }

  #show(board: Board | null): void {
    this.#misses = board === null ? this.#misses + 1 : 0
    if (this.#misses >= patience) this.#ended.resolve(exitCode.noGateway)
    this.#board = board ?? this.#board
    // The mark stays with its call, and then with its place.
    const at = this.#calls.findIndex(({ id }) => id === this.#markedId)
    this.#mark(at < 0 ? this.#markedAt : at)
    if (this.#asked !== null && !this.#calls.some(({ id }) => id === this.#asked?.id)) {
      this.#asked = null
      this.#notice = 'It has ended meanwhile.'
    }
    this.#draw()
  }

  #mark(at: number): void {
    this.#markedAt = Math.max(0, Math.min(at, this.#calls.length - 1))
    this.#markedId = this.#calls[this.#markedAt]?.id ?? null
  }

  #press(key: string): void {
    const asked = this.#asked
    this.#notice = ''
    this.#asked = null
    if (asked !== null) {
      if (key === 'y') this.#cancel(asked.id).catch(reportFault)
    } else if (key === 'q') this.#ended.resolve(0)
    else if (key === 'c' || key === 'x') this.#asked = this.#calls[this.#markedAt] ?? null
    else this.#mark(this.#markedAt + (steps.get(key) ?? 0))
    this.#draw()
  }

  async #cancel(id: string): Promise<void> {
    try {
      const answer = await this.#gateway.client.cancel(id)
      if (typeof answer === 'string') this.#notice = 'The gateway does not answer.'
      else this.#notice = answer.cancelled ? `${id} was cancelled.` : `${id} had ended already.`
    } catch (error) {
      this.#notice = printable(messageOf(error))
    }
    this.#draw()
  }

  #draw(): void {
    const board = this.#board
    const screen = this.#screen
    if (board === null || screen === null) return
    const style = lineStyle(this.#terminal)
    const room = Math.max(1, screen.rows - 4)
    const from = Math.max(0, Math.min(this.#markedAt - Math.floor(room / 2), this.#calls.length - room))
    const seen = this.#calls.slice(from, from + room)
    const { header, line } = tableOf(boardColumns, seen, { ...style, open: true })
    const rows = seen.map((call) => line(call, call.id === this.#markedId ? 'marked' : undefined))
    const body = rows.length === 0 ? ['No call is under way.'] : [header, ...rows]
    const empty = Array.from({ length: Math.max(0, room + 1 - body.length) }, () => '')
    const last = shorten(this.#lastLine(from, seen.length), style.width)
    const tone = this.#asked === null ? 'faint' : 'left'
    screen.draw([boardHead(board, style), '', ...body, ...empty, paint(tone, last, style.color)])
  }

  #lastLine(from: number, seen: number): string {
    if (this.#asked !== null) {
      const { id, model, path, state } = this.#asked
      const how = state === 'streaming' ? 'its answer breaks off' : 'it is answered 503'
      return `Cancel ${id}, ${printable(model ?? path)}? ${how}. y yes · any other key no`
    }
    if (this.#misses > 0) return 'The gateway does not answer.'
    if (this.#notice !== '') return this.#notice
    const all = this.#calls.length
    return seen < all ? `${from + 1} to ${from + seen} of ${all} · ${help}` : help
  }
}
