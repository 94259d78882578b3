import { dirname } from 'node:path'
import { ControlClient } from '../../control/control-client.ts'
import { messageOf } from '../../lib/errors.ts'
import { optionTable } from '../../options/option-spec.ts'
import { CommandError, exitCode, nameItsDatabase, noGatewayAnswers } from '../exit-code.ts'
import { database, flag } from '../option-rows.ts'
import type { CommandRun } from '../parse-options.ts'
import { type Board, boardColumns, boardHead } from '../terminal/board-lines.ts'
import { count } from '../../lib/number-format.ts'
import { tableOf } from '../terminal/table-layout.ts'
import { lineStyle, type Terminal } from '../terminal/terminal.ts'

export const example = 'tokenweir top --once'
export const use = 'reads'
export const table = optionTable({
  once: flag('print once and exit (default if the output is not a terminal)'),
  json: flag('print once as a JSON object, like GET /api/live'),
  db: database('file of the telemetry database; the gateway of its folder is shown'),
})

const everyMs = 1000
/** The calls per second are averaged over this many snapshots. */
const maxSamples = 10
/** A gateway that misses this many snapshots in a row has gone away. */
const patience = 3
/** ECMA-48: moves the cursor to the first line, and erases everything after it. */
const clear = '\u001b[H\u001b[J'

/** `tokenweir top`: the calls in progress, printed again each second. */
export const run: CommandRun<typeof table> = async (options, { terminal }) => {
  const gateway = new WatchedGateway(new ControlClient(dirname(options.db)))
  const board = await gateway.snapshot().catch((error: unknown) => {
    throw new CommandError(messageOf(error))
  })
  if (board === null) throw noGatewayAnswers(`in ${dirname(options.db)}`, nameItsDatabase)
  if (options.json) terminal.print(`${JSON.stringify(board.live)}\n`)
  else if (options.once || !terminal.isWatched) terminal.print(printed(board, terminal))
  else await watch(gateway, board, terminal)
}

/** Prints boards until the output is closed. Rejects when the connection to the gateway is lost. */
async function watch(gateway: WatchedGateway, first: Board, terminal: Terminal): Promise<void> {
  const { clock, print, signal } = terminal
  let board: Board | null = first
  let misses = 0
  while (misses < patience) {
    if (board !== null) print(`${clear}${printed(board, terminal, process.stdout.rows || 24)}`)
    await clock.delay(everyMs, signal).catch(() => undefined)
    if (signal.aborted) return
    board = await gateway.snapshot().catch(() => null)
    misses = board === null ? misses + 1 : 0
  }
  throw new CommandError('lost the connection to the gateway', exitCode.noGateway)
}

/** The board as text of at most `height` lines. The oldest calls are shown. */
function printed(board: Board, terminal: Terminal, height = Infinity): string {
  const style = lineStyle(terminal)
  const { calls } = board.live
  // Four lines are for the head, the titles, the count of omitted calls, and the cursor.
  const shown = calls.slice(0, Math.max(1, height - 4))
  const { header, line } = tableOf(boardColumns, shown, { ...style, open: height < Infinity })
  const rows = shown.length === 0 ? [] : [header, ...shown.map((call) => line(call))]
  if (shown.length < calls.length) rows.push(`… ${count(calls.length - shown.length)} more`)
  return [boardHead(board, style), ...rows, ''].join('\n')
}

/** Takes snapshots of a gateway, and computes the calls per second that got a slot. */
class WatchedGateway {
  readonly #client: ControlClient
  readonly #samples: { readonly atMs: number; readonly instance: string; readonly admitted: number }[] = []

  constructor(client: ControlClient) {
    this.#client = client
  }

  /** A snapshot of the gateway; null if no gateway answers. Rejects with a message for people if it cannot be asked. */
  async snapshot(): Promise<Board | null> {
    const [status, live] = await Promise.all([this.#client.status(), this.#client.live()])
    if (typeof status === 'string' || typeof live === 'string') return null
    const { instance, health } = status
    const slots = health.rate_limiter
    const now = { atMs: performance.now(), instance, admitted: slots.total_admitted }
    if (this.#samples.at(-1)?.instance !== instance) this.#samples.length = 0
    this.#samples.push(now)
    if (this.#samples.length > maxSamples) this.#samples.shift()
    const [first = now] = this.#samples
    const seconds = (now.atMs - first.atMs) / 1000
    return { slots, live, callsPerS: seconds > 0 ? (now.admitted - first.admitted) / seconds : null }
  }
}
