import { dirname } from 'node:path'
import type { GatewayRow, GatewaysReport } from '../../api/gateways.ts'
import { ControlClient } from '../../control/control-client.ts'
import { messageOf } from '../../lib/errors.ts'
import { optionTable } from '../../options/option-spec.ts'
import { ownGateway } from '../../supervisor/own-gateway.ts'
import { exitCode } from '../exit-code.ts'
import { database, flag } from '../option-rows.ts'
import type { CommandRun, Environment } from '../parse-options.ts'
import { shareAddress } from '../share-rows.ts'
import { count, counted, orDash } from '../../lib/number-format.ts'
import { clockTime } from '../terminal/clock-time.ts'
import { printable } from '../terminal/printable.ts'
import { type Column, column, printTable, right } from '../terminal/table-layout.ts'
import type { Terminal } from '../terminal/terminal.ts'

export const example = 'tokenweir gateways --json'
export const use = 'reads'
export const table = optionTable({
  json: flag('print one JSON object'),
  db: database('file of the telemetry database, to find a gateway that does not share'),
})

/** `tokenweir gateways`: the gateways that share through `TOKENWEIR_SHARE`; without it, the gateway of this folder. */
export const run: CommandRun<typeof table> = async ({ db, json }, { env, terminal }) => {
  const report = await ask(dirname(db), env, terminal)
  if (json) terminal.print(`${JSON.stringify(report)}\n`)
  else show(report, terminal)
  return report.problem === null ? 0 : exitCode.fault
}

async function ask(folder: string, env: Environment, { clock }: Terminal): Promise<GatewaysReport> {
  if ((env['TOKENWEIR_SHARE'] ?? '') === '') {
    const noGateway = { instance: null, health: null }
    let status
    try {
      status = await new ControlClient(folder).status()
    } catch (error) {
      const problem = `could not reach the gateway of ${folder}: ${messageOf(error)}`
      return { ...ownGateway(noGateway, clock.wallTime()), problem }
    }
    return ownGateway(typeof status === 'string' ? noGateway : status, clock.wallTime())
  }
  const { GatewayList } = await import('../../share/slots/gateway-list.ts')
  const list = new GatewayList({ url: shareAddress(env), folder, clock })
  try {
    return await list.report()
  } finally {
    list.close()
  }
}

function show(report: GatewaysReport, terminal: Terminal): void {
  const { print, warn } = terminal
  const { gateways, max_concurrent: max, problem } = report
  if (problem !== null) return warn(`tokenweir: ${problem}\n`)
  if (gateways.length === 0) return print('No gateway runs.\n')
  printTable(columns, gateways, terminal)
  const active = gateways.reduce((sum, row) => sum + row.active, 0)
  print(`${count(active)} of ${orDash(max, count)} slots in use, ${counted(gateways.length, 'gateway')}\n`)
}

const columns: readonly Column<GatewayRow>[] = [
  column('gateway', 0, ({ instance }) => instance, { gap: '' }),
  column('host', 0, ({ host, is_own: isOwn }) => `${printable(host)}${isOwn ? ' (this one)' : ''}`),
  column('version', 4, ({ version }) => printable(version)),
  column('state', 0, stateText),
  column('in flight', 1, ({ active }) => count(active), right),
  column('held', 1, ({ held }) => count(held), right),
  column('waiting', 1, ({ waiting }) => count(waiting), right),
  column('rows behind', 3, ({ rows_behind: behind }) => count(behind), right),
  column('lease left', 2, ({ lease_left_s: leftS }) => orDash(leftS, (s) => `${count(s)} s`), right),
]

function stateText({ state, away_since: since }: GatewayRow, nowMs: number): string {
  return since === null ? state : `away since ${clockTime(Date.parse(since), nowMs)}`
}
