import { dirname, resolve } from 'node:path'
import type { CallFilter } from '../../call/call-filter.ts'
import type { CallJson } from '../../call/call-record.ts'
import type { CallReader } from '../../call/call-reader.ts'
import { openCallReader } from '../../store/read/call-query.ts'
import { ControlClient } from '../../control/control-client.ts'
import { absenceText, type StoreAbsence } from '../../store/sqlite/open-store.ts'
import { callsTable } from '../terminal/calls-table.ts'
import { clientOrigin } from '../terminal/reachable-origin.ts'
import { gatewayOptionTable } from '../../options/gateway-options.ts'
import { type OptionsOf, optionTable, sourceOf } from '../../options/option-spec.ts'
import { integer } from '../../options/value-kind.ts'
import { database, flag, value } from '../option-rows.ts'
import { CommandError } from '../exit-code.ts'
import { filterIn, filterRows } from '../filter-options.ts'
import { type CommandContext, type Environment, parseOptions } from '../parse-options.ts'
import { lineStyle, type Terminal } from '../terminal/terminal.ts'

export const example = 'tokenweir calls --since 1h --errors'
export const use = 'reads'
export const table = optionTable({
  recent: value(integer(0, 100_000), 20, 'number of calls to show, newest last'),
  follow: flag('keep showing calls as they end'),
  ...filterRows,
  json: flag('print one JSON object per line instead of a table'),
  db: database(),
})

type CallsOptions = OptionsOf<typeof table>

const { host: hostOption, port: portOption } = gatewayOptionTable
const pollMs = 500
const followedAtOnce = 1000

/**
 * `tokenweir calls`: the latest calls, newest last; with `--follow` also each call that ends from now on.
 * Gives the exit code; throws `CommandError`.
 */
export async function run(
  options: CallsOptions,
  { terminal, env }: CommandContext,
  openReader: (path: string) => CallReader | StoreAbsence = openCallReader,
): Promise<number> {
  const filter = filterIn(options, terminal.clock.wallTime())
  const nothingYet = noCallsYet(options.db, env)
  let reader = openReader(options.db)
  if (options.follow && isYetToCome(reader)) {
    terminal.warn(await nothingYet())
    while (isYetToCome(reader) && (await pause(terminal))) reader = openReader(options.db)
    if (isYetToCome(reader)) return 0
  }
  if (typeof reader === 'string') return reportAbsence(reader, options, nothingYet, terminal)
  try {
    await show(reader, filter, options, nothingYet, terminal)
    return 0
  } finally {
    reader.close()
  }
}

/**
 * Prints why there is nothing to read, and returns the exit code. Throws {@link CommandError} if a named file
 * is missing.
 */
export async function reportAbsence(
  absence: StoreAbsence,
  { db, json, setBy }: OptionsOf<Pick<typeof table, 'db' | 'json'>>,
  nothingYet: () => Promise<string>,
  { print }: Terminal,
): Promise<number> {
  if (absence === 'empty' || (absence === 'missing' && sourceOf(setBy.db) !== 'flag')) {
    if (!json) print(await nothingYet())
    return 0
  }
  throw new CommandError(`${resolve(db)}: ${absenceText[absence]}`)
}

/** Prints the latest calls. With `--follow` it then prints each call that ends, until the output is closed. */
async function show(
  reader: CallReader,
  filter: CallFilter,
  { recent: limit, json, follow }: CallsOptions,
  nothingYet: () => Promise<string>,
  terminal: Terminal,
): Promise<void> {
  // Read before the list, so that no call is missed. A call that ends in between is found twice, and its id
  // is known.
  let seq = await reader.lastSeq()
  const newest = await reader.list(filter, { limit: limit + 1 })
  const recent = newest.slice(0, limit).toReversed()
  if (newest.length === 0 && !json && !follow) {
    terminal.print(seq === 0 ? await nothingYet() : 'No recorded calls match.\n')
    return
  }
  const table = json
    ? null
    : callsTable(recent, newest.length <= limit, { ...lineStyle(terminal), open: follow })
  const print = (calls: readonly CallJson[]): void => {
    const lines = calls.map((call) => `${table?.row(call) ?? JSON.stringify(call)}\n`)
    if (lines.length > 0) terminal.print(lines.join(''))
  }
  if (table !== null) terminal.print(`${table.header}\n`)
  print(recent)
  if (!follow) {
    if (table !== null) terminal.print(`${table.footer}\n`)
    return
  }
  const printed = new Set(recent.map((call) => call.id))
  for (;;) {
    const ended = await reader.endedSince(seq, filter, followedAtOnce)
    seq = ended.lastSeq
    print(ended.calls.filter((call) => !printed.has(call.id)))
    // A full page: more calls have already ended.
    if (ended.calls.length < followedAtOnce && !(await pause(terminal))) return
  }
}

/** True if the output is still open after the pause. */
async function pause({ clock, signal }: Terminal): Promise<boolean> {
  await clock.delay(pollMs, signal).catch(() => undefined)
  return !signal.aborted
}

/** True if the gateway has not created the database yet, or is creating it. */
export function isYetToCome(reader: CallReader | StoreAbsence): reader is 'missing' | 'empty' {
  return reader === 'missing' || reader === 'empty'
}

/** A line for a file without calls: where to send the first call. */
export function noCallsYet(db: string, env: Environment): () => Promise<string> {
  return async () => {
    const running = await new ControlClient(dirname(db)).running()
    const { host, port } = running ?? parseOptions({ host: hostOption, port: portOption }, [], env)
    const start = running === null ? 'start "tokenweir gateway" and send' : 'send'
    return `No calls are recorded in ${resolve(db)} yet: ${start} a call to ${clientOrigin(host, port)}/v1 to see it here.\n`
  }
}
