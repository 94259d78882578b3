import { dirname } from 'node:path'
import type { ClientRow, ClientsReport } from '../../api/clients.ts'
import { optionTable } from '../../options/option-spec.ts'
import { openCallReader } from '../../store/read/call-query.ts'
import { absenceText } from '../../store/sqlite/open-store.ts'
import { Clients } from '../../supervisor/clients.ts'
import { CommandError } from '../exit-code.ts'
import { database, flag } from '../option-rows.ts'
import type { CommandRun } from '../parse-options.ts'
import { count, orDash, unknownFigure } from '../../lib/number-format.ts'
import { clockTime } from '../terminal/clock-time.ts'
import { printable } from '../terminal/printable.ts'
import { type Column, column, printTable, right } from '../terminal/table-layout.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { isYetToCome } from './calls.ts'

export const example = 'tokenweir clients'
export const use = 'reads'
export const table = optionTable({
  json: flag('print one JSON object'),
  db: database('file of the telemetry database; the limits of clients are next to it'),
})

const seenMs = 7 * 24 * 60 * 60 * 1000
const countingMs = 10_000

/** `tokenweir clients`: the clients of the last seven days, their limits, and the use of these. */
export const run: CommandRun<typeof table> = async ({ db, json }, { terminal }) => {
  const nowMs = terminal.clock.wallTime()
  const reader = openCallReader(db)
  if (typeof reader === 'string' && !isYetToCome(reader)) {
    throw new CommandError(`${db}: ${absenceText[reader]}`)
  }
  const seenClients =
    typeof reader === 'object'
      ? await reader.seenClients(nowMs - seenMs, nowMs, countingMs).finally(() => reader.close())
      : { fromMs: nowMs - seenMs, clients: [] }
  const counted_from = new Date(seenClients.fromMs).toISOString()
  const report = await new Clients(dirname(db)).report({ ...seenClients, counted_from })
  if (json) terminal.print(`${JSON.stringify(report)}\n`)
  else show(report, terminal)
  return 0
}

function show(report: ClientsReport, terminal: Terminal): void {
  const { print, warn } = terminal
  const { clients, problem, budget_action: action } = report
  if (problem !== null) warn(`tokenweir: ${problem} The last valid limits stay in force.\n`)
  if (clients.length === 0) {
    print('No calls in the last seven days, and no limits.\n')
    return
  }
  printTable(columns, clients, terminal)
  if (action === 'report' && clients.some(({ token_limit: limit }) => limit !== null))
    print(`${onlyReported}\n`)
}

/** The note for token limits that are only reported, not enforced. */
export const onlyReported =
  'Token limits only count: with --budget-action reject, calls over a limit get 429.'

const orUnknown = (value: number | null): string => orDash(value, count)
const columns: readonly Column<ClientRow>[] = [
  column('client', 0, (row) => printable(nameOf(row)), { gap: '', cut: { minWidth: 12, at: 'end' } }),
  column('last', 4, lastText, right),
  column('calls', 1, ({ calls }) => count(calls), right),
  column('tokens', 3, ({ tokens }) => count(tokens), right),
  column('in flight', 1, ({ active }) => orUnknown(active), right),
  column('limit', 1, ({ max_concurrent: most }) => orUnknown(most), right),
  column('waiting', 1, ({ waiting }) => orUnknown(waiting), right),
  column('used in 24 h', 2, ({ used_tokens: used }) => orUnknown(used), right),
  column('token limit', 1, ({ token_limit: limit }) => orUnknown(limit), right),
  column('requests/min', 5, ({ max_rpm: most }) => orUnknown(most), right),
  column('tokens/min', 5, ({ max_tpm: most }) => orUnknown(most), right),
  column('left', 1, ({ remaining_tokens: remaining }) => orUnknown(remaining), right),
]

function lastText({ last_at: at }: ClientRow, nowMs: number): string {
  return at === null ? unknownFigure : clockTime(Date.parse(at), nowMs)
}

function nameOf({ client, is_key: isKey, name }: ClientRow): string {
  if (client === '') return '(no name, no key)'
  if (!isKey) return client
  return name === null ? `key ${client}` : `key ${client} (${name})`
}
