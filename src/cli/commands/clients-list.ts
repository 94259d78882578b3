import { dirname } from 'node:path'
import type { ClientRow, ClientsReport } from '../../api/clients.ts'
import { controlFolder } from '../../control/control-folder.ts'
import { optionTable } from '../../options/option-spec.ts'
import { openCallReader } from '../../store/read/call-query.ts'
import { absenceText } from '../../store/sqlite/open-store.ts'
import { Clients } from '../../supervisor/clients.ts'
import { exitCode } from '../exit-code.ts'
import { database, flag } from '../option-rows.ts'
import { type Environment, parseOptions } from '../parse-options.ts'
import { pad, shorten } from '../terminal/display-width.ts'
import { clockTime, count } from '../terminal/figures.ts'
import { paint } from '../terminal/paint.ts'
import { printable } from '../terminal/printable.ts'
import { type Terminal, thisTerminal } from '../terminal/terminal.ts'

export const table = optionTable({
  json: flag('print one JSON object'),
  db: database('file of the telemetry database; the limits of clients lie beside it'),
})

const seenMs = 7 * 24 * 60 * 60 * 1000
const countingMs = 10_000
const longestName = 40

/** `tokenweir clients`: who called in the last days, limits, and what is left of them. Gives the exit code; throws `OptionError`. */
export async function run(
  argv: readonly string[],
  env: Environment,
  terminal: Terminal = thisTerminal(),
): Promise<number> {
  const { db, json } = parseOptions(table, argv, env)
  const nowMs = terminal.clock.wallTime()
  const reader = openCallReader(db)
  if (reader === 'missing' || reader === 'empty' || typeof reader === 'object') {
    const seen =
      typeof reader === 'object'
        ? await reader.seenClients(nowMs - seenMs, nowMs, countingMs).finally(() => reader.close())
        : { fromMs: nowMs - seenMs, clients: [] }
    const counted_from = new Date(seen.fromMs).toISOString()
    const report = await new Clients(controlFolder(dirname(db))).report({ ...seen, counted_from })
    if (json) terminal.print(`${JSON.stringify(report)}\n`)
    else show(report, terminal)
    return 0
  }
  terminal.warn(`tokenweir: ${db}: ${absenceText[reader]}\n`)
  return exitCode.fault
}

function show(report: ClientsReport, { print, warn, clock, color }: Terminal): void {
  const { clients, problem, budget_action: action } = report
  if (problem !== null) warn(`tokenweir: ${problem} The last good limits hold.\n`)
  if (clients.length === 0) {
    print('Nobody has called in the last seven days, and nobody has a limit.\n')
    return
  }
  const nowMs = clock.wallTime()
  const rows = clients.map((row) => columns.map(({ text }) => text(row, nowMs)))
  const widths = columns.map(({ title }, at) =>
    Math.max(title.length, ...rows.map((cells) => (cells[at] ?? '').length)),
  )
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => pad(cell, widths[at] ?? 0, at === 0 ? 'left' : 'right'))
      .join('  ')
      .trimEnd()
  print(`${paint('faint', line(columns.map(({ title }) => title)), color)}\n`)
  for (const cells of rows) print(`${line(cells)}\n`)
  if (action === 'report' && clients.some(({ token_limit: limit }) => limit !== null))
    print(`${onlyReported}\n`)
}

/** Said of budgets that nobody is held to. */
export const onlyReported =
  'Budgets are only reported: with --budget-action reject the gateway also answers 429 once one is used up.'

interface Column {
  readonly title: string
  readonly text: (row: ClientRow, nowMs: number) => string
}

const none = '-'
const orNone = (value: number | null): string => (value === null ? none : count(value))

const columns: readonly Column[] = [
  { title: 'client', text: (row) => shorten(printable(nameOf(row)), longestName) },
  {
    title: 'last',
    text: ({ last_at: at }, nowMs) => (at === null ? none : clockTime(Date.parse(at), nowMs)),
  },
  { title: 'calls', text: ({ calls }) => count(calls) },
  { title: 'tokens', text: ({ tokens }) => count(tokens) },
  { title: 'in flight', text: ({ active }) => orNone(active) },
  { title: 'limit', text: ({ max_concurrent: most }) => orNone(most) },
  { title: 'waiting', text: ({ waiting }) => orNone(waiting) },
  { title: 'used in 24 h', text: ({ used_tokens: used }) => orNone(used) },
  { title: 'limit', text: ({ token_limit: limit }) => orNone(limit) },
  { title: 'left', text: ({ remaining_tokens: left }) => orNone(left) },
]

function nameOf({ client, is_key: isKey, name }: ClientRow): string {
  if (client === '') return '(no name, no key)'
  if (!isKey) return client
  return name === null ? `key ${client}` : `key ${client} (${name})`
}
