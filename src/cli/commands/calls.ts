import type { CallFilter } from '../../call/call-filter.ts'
import type { CallJson } from '../../call/call-record.ts'
import type { CallReader } from '../../call/call-reader.ts'
import type { Clock } from '../../call/clock.ts'
import { absenceText } from '../../store/sqlite/open-store.ts'
import type { StoreAbsence } from '../../store/sqlite/open-store.ts'
import { parseCallsOptions } from './calls-options.ts'
import type { CallsOptions } from './calls-options.ts'
import { CallsTable } from '../terminal/calls-table.ts'
import { defaultGatewayPort } from '../../options/gateway-options.ts'
import type { Environment } from '../parse-options.ts'

/** What `tokenweir calls` needs of the world. */
export interface CallsContext {
  readonly clock: Clock
  readonly openReader: (path: string) => CallReader | StoreAbsence
  readonly print: (text: string) => void
  readonly warn: (text: string) => void
  /** Columns that a line may take. */
  readonly width: number
  readonly color: boolean
  /** Aborted when nobody reads any more. */
  readonly signal: AbortSignal
}

/** Prints calls, oldest first. */
type Printer = (calls: readonly CallJson[]) => void

const pollMs = 500
const followedAtOnce = 1000

/**
 * `tokenweir calls`: the last calls, the newest last, and with `--follow` those that end from now on.
 * Gives the exit code; throws `OptionError`.
 */
export async function runCalls(
  argv: readonly string[],
  env: Environment,
  context: CallsContext,
): Promise<number> {
  const options = parseCallsOptions(argv, env)
  const filter = filterOf(options, context.clock.wallTime())
  let reader = context.openReader(options.db)
  if (isYetToCome(reader)) {
    if (!options.follow) {
      if (options.sources.db === 'flag' && reader === 'missing') {
        context.warn(`tokenweir: ${options.db}: ${absenceText[reader]}\n`)
        return 1
      }
      if (!options.json) context.print(`${noCallsYet(options.db)}\n`)
      return 0
    }
    context.warn(`${noCallsYet(options.db)}\n`)
    while (isYetToCome(reader) && (await pause(context))) reader = context.openReader(options.db)
  }
  if (typeof reader === 'string') {
    if (context.signal.aborted) return 0
    context.warn(`tokenweir: ${options.db}: ${absenceText[reader]}\n`)
    return 1
  }
  try {
    if (options.follow) await follow(reader, filter, options, context)
    else await printRecent(reader, filter, options, context)
    return 0
  } finally {
    reader.close()
  }
}

async function printRecent(
  reader: CallReader,
  filter: CallFilter,
  options: CallsOptions,
  context: CallsContext,
): Promise<void> {
  const calls = (await reader.list(filter, { limit: options.recent })).toReversed()
  if (options.json) printJson(calls, context)
  else if (calls.length > 0) {
    const table = new CallsTable(calls, tableOptions(context, false))
    const lines = [table.header(), ...calls.map((call) => table.row(call)), table.footer(calls)]
    context.print(`${lines.join('\n')}\n`)
  } else {
    context.print(
      `${(await reader.lastSeq()) === 0 ? noCallsYet(options.db) : 'No recorded call matches.'}\n`,
    )
  }
}

/** The last calls, and then every one that ends, until nobody reads any more. */
async function follow(
  reader: CallReader,
  filter: CallFilter,
  options: CallsOptions,
  context: CallsContext,
): Promise<void> {
  // Asked before the list: a call that ends in between is met again below, and told by its id.
  let seq = await reader.lastSeq()
  const recent = (await reader.list(filter, { limit: options.recent })).toReversed()
  const print = options.json
    ? (calls: readonly CallJson[]) => printJson(calls, context)
    : tablePrinter(recent, context)
  print(recent)
  const printed = new Set(recent.map((call) => call.id))
  for (;;) {
    const ended = await reader.endedSince(seq, filter, followedAtOnce)
    seq = ended.lastSeq
    print(ended.calls.filter((call) => !printed.has(call.id)))
    // As many as were asked for: more are there already.
    if (ended.calls.length < followedAtOnce && !(await pause(context))) return
  }
}

function printJson(calls: readonly CallJson[], context: CallsContext): void {
  if (calls.length > 0) context.print(calls.map((call) => `${JSON.stringify(call)}\n`).join(''))
}

function tablePrinter(recent: readonly CallJson[], context: CallsContext): Printer {
  const table = new CallsTable(recent, tableOptions(context, true))
  context.print(`${table.header()}\n`)
  return (calls) => {
    if (calls.length > 0) context.print(calls.map((call) => `${table.row(call)}\n`).join(''))
  }
}

function tableOptions(
  { width, color, clock }: CallsContext,
  open: boolean,
): ConstructorParameters<typeof CallsTable>[1] {
  return { width, color, nowMs: clock.wallTime(), open }
}

function filterOf(options: CallsOptions, nowMs: number): CallFilter {
  return {
    ...(options.errors ? { failedOnly: true } : {}),
    ...(options.model.length > 0 ? { model: options.model } : {}),
    ...(options.since === null ? {} : { fromMs: nowMs - options.since }),
  }
}

/** Says whether anybody still reads after the pause. */
async function pause({ clock, signal }: CallsContext): Promise<boolean> {
  try {
    await clock.delay(pollMs, signal)
    return true
  } catch (error) {
    if (signal.aborted) return false
    throw error
  }
}

function isYetToCome(reader: CallReader | StoreAbsence): reader is 'missing' | 'empty' {
  return reader === 'missing' || reader === 'empty'
}

function noCallsYet(db: string): string {
  const start = 'start "tokenweir gateway" and send a call to'
  return `No calls are recorded in ${db} yet: ${start} http://localhost:${defaultGatewayPort}/v1, and it shows up here.`
}
