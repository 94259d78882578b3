import type { CallFilter } from '../../call/call-filter.ts'
import type { CallSession } from '../../call/figures.ts'
import type { CallReader } from '../../call/call-reader.ts'
import { openCallReader } from '../../store/read/call-query.ts'
import type { StoreAbsence } from '../../store/sqlite/open-store.ts'
import { type OptionsOf, optionTable } from '../../options/option-spec.ts'
import { age, integer, names } from '../../options/value-kind.ts'
import { database, flag, optional, value } from '../option-rows.ts'
import type { CommandContext } from '../parse-options.ts'
import { count, counted, duration, dollars, orDash, percent, unknownFigure } from '../../lib/number-format.ts'
import { clockTime } from '../terminal/clock-time.ts'
import { paint } from '../terminal/paint.ts'
import { printable } from '../terminal/printable.ts'
import { type Column, column, fitting, printTable, right } from '../terminal/table-layout.ts'
import { noCallsYet, reportAbsence } from './calls.ts'

export const example = 'tokenweir sessions --since 1d'
export const use = 'reads'
export const table = optionTable({
  recent: value(integer(1, 100_000), 20, 'number of sessions to show, newest last'),
  since: optional(age, 'only sessions with a call in the last: 90s, 15m, 1h, 7d'),
  client: value<readonly string[]>(names('a client’s name'), [], 'only sessions of this client; repeatable'),
  model: value<readonly string[]>(names('a model name'), [], 'only sessions with this model; repeatable'),
  json: flag('print one JSON object per line instead of a table'),
  db: database(),
})

const columns: readonly Column<CallSession>[] = [
  column('last call', 0, ({ last_at }, nowMs) => clockTime(Date.parse(last_at), nowMs), {
    align: 'right',
    gap: '',
  }),
  column('session', 0, ({ session }) => printable(session), { cut: { minWidth: 18, at: 'middle' } }),
  column('client', 4, ({ client }) => printable(client ?? unknownFigure), {
    cut: { minWidth: 8, at: 'end' },
  }),
  column('models', 3, ({ models }) => printable(models.join(', ')) || unknownFigure, {
    cut: { minWidth: 12, at: 'end' },
  }),
  column('calls', 0, ({ calls }) => count(calls), right),
  column('errors', 1, ({ errors }) => count(errors), {
    align: 'right',
    tone: ({ errors }) => (errors > 0 ? 'failed' : 'plain'),
  }),
  column('in', 1, (session) => count(session.input_tokens), right),
  column('out', 1, (session) => count(session.output_tokens), { align: 'right', gap: ' → ' }),
  column('cached', 2, ({ cached_share }) => orDash(cached_share, percent), right),
  column('tools', 7, ({ tool_calls }) => count(tool_calls), right),
  column('cost', 2, ({ cost_usd }) => orDash(cost_usd, dollars), right),
  column('wall', 5, ({ wall_ms }) => duration(wall_ms), right),
  column('in calls', 6, ({ in_calls_ms }) => duration(in_calls_ms), right),
]

/** `tokenweir sessions`: the last sessions, newest last. Resolves with the exit code; rejects with `CommandError`. */
export async function run(
  options: OptionsOf<typeof table>,
  { terminal, env }: CommandContext,
  openReader: (path: string) => CallReader | StoreAbsence = openCallReader,
): Promise<number> {
  const { recent: limit, since, client, model, json, db } = options
  const filter: CallFilter = {
    ...(client.length > 0 ? { client } : {}),
    ...(model.length > 0 ? { model } : {}),
    ...(since === null ? {} : { fromMs: terminal.clock.wallTime() - since }),
  }
  const nothingYet = noCallsYet(db, env)
  const reader = openReader(db)
  if (typeof reader === 'string') return reportAbsence(reader, options, nothingYet, terminal)
  try {
    const sessions = (await reader.sessions(filter, { limit })).sessions.toReversed()
    if (json) terminal.print(sessions.map((session) => `${JSON.stringify(session)}\n`).join(''))
    else if (sessions.length > 0) {
      printTable(columns, sessions, terminal)
      terminal.print(`${paint('faint', footerText(sessions, terminal.width()), terminal.color)}\n`)
    } else
      terminal.print((await reader.lastSeq()) === 0 ? await nothingYet() : 'No recorded sessions match.\n')
    return 0
  } finally {
    reader.close()
  }
}

function footerText(sessions: readonly CallSession[], width: number): string {
  const sum = (of: (session: CallSession) => number): number =>
    sessions.reduce((total, session) => total + of(session), 0)
  const input = sum((session) => session.input_tokens)
  const parts = [
    counted(sessions.length, 'session'),
    counted(
      sum(({ calls }) => calls),
      'call',
    ),
    `${sum(({ errors }) => errors)} failed`,
    `${count(input)} → ${count(sum((session) => session.output_tokens))} tokens`,
  ]
  if (input > 0) parts.push(`${percent(sum((session) => session.cached_input_tokens) / input)} cached`)
  if (sessions.some(({ cost_usd }) => cost_usd !== null))
    parts.push(dollars(sum(({ cost_usd }) => cost_usd ?? 0)))
  return fitting(parts, width)
}
