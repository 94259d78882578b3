import { dirname } from 'node:path'
import type { MinuteLimitUse, ProviderLimit } from '../../api/health-report.ts'
import { ControlClient, type NoAnswer } from '../../control/control-client.ts'
import { optionTable } from '../../options/option-spec.ts'
import { nameItsDatabase, noGatewayAnswers } from '../exit-code.ts'
import { database, flag } from '../option-rows.ts'
import type { CommandRun } from '../parse-options.ts'
import { count, orDash, longDuration, unknownFigure } from '../../lib/number-format.ts'
import { clockTime } from '../terminal/clock-time.ts'
import { printable } from '../terminal/printable.ts'
import { type Column, column, printTable, right } from '../terminal/table-layout.ts'

export const example = 'tokenweir limits'
export const use = 'reads'
export const table = optionTable({
  json: flag('print one JSON object'),
  db: database('file of the telemetry database, to find the gateway'),
})

const advice: Readonly<Record<NoAnswer, string>> = {
  notRunning: nameItsDatabase,
  noReply: 'it is not responding',
}

/** `tokenweir limits`: the providers' limits that the running gateway has seen. */
export const run: CommandRun<typeof table> = async ({ db, json }, { terminal }) => {
  const status = await new ControlClient(dirname(db)).status()
  if (typeof status === 'string') throw noGatewayAnswers(`in ${dirname(db)}`, advice[status])
  const { provider_limits, minute_limits } = status.health
  if (json) terminal.print(`${JSON.stringify({ provider_limits, minute_limits })}\n`)
  else {
    if (provider_limits.length === 0) terminal.print('No provider reported a limit in the last hour.\n')
    else printTable(columns, provider_limits, terminal)
    if (minute_limits.length > 0) {
      terminal.print('\nCalls wait for these:\n')
      printTable(minuteColumns, minute_limits, terminal)
    }
  }
  return 0
}

const columns: readonly Column<ProviderLimit>[] = [
  column('upstream', 2, ({ upstream }) => upstream, { gap: '' }),
  column('model', 0, ({ model }) => (model === null ? unknownFigure : printable(model)), {
    cut: { minWidth: 12, at: 'end' },
  }),
  column('key', 3, ({ key }) => key ?? unknownFigure),
  column('limit of', 0, kindText),
  column('left', 0, ({ remaining }) => orDash(remaining, count), right),
  column('limit', 0, ({ limit }) => orDash(limit, count), right),
  column('resets in', 1, ({ reset_at: at }, nowMs) => resetText(at, nowMs), right),
  column('seen', 4, ({ seen_at: at }, nowMs) => clockTime(Date.parse(at), nowMs), right),
]

const minuteColumns: readonly Column<MinuteLimitUse>[] = [
  column('limit of', 0, (row) => printable(ownerText(row)), {
    gap: '',
    cut: { minWidth: 12, at: 'end' },
  }),
  column('kind', 0, ({ kind }) => `${kind.replace('_', ' ')}/min`),
  column('used', 0, ({ used }) => count(used), right),
  column('limit', 0, ({ limit }) => count(limit), right),
  column('waiting', 0, ({ waiting }) => count(waiting), right),
]

function ownerText({ of, upstream, model, client }: MinuteLimitUse): string {
  if (of === 'client') return client ?? unknownFigure
  return [upstream, model, client].filter((part) => part !== null).join(' ')
}

function kindText({ kind, window_s: seconds }: ProviderLimit): string {
  if (kind === 'wait') return 'a wait'
  const words = kind.replace('_', ' ')
  return seconds === null || seconds === 60 ? `${words}/min` : `${words} in ${longDuration(seconds)}`
}

function resetText(at: string | null, nowMs: number): string {
  return at === null ? unknownFigure : longDuration(Math.max(0, Math.ceil((Date.parse(at) - nowMs) / 1000)))
}
