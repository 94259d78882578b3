import { dirname } from 'node:path'
import { entryName } from '../../call/key-fingerprint.ts'
import type { ClientChange } from '../../options/client-settings.ts'
import { givenSettings, type OptionRow, optionTable } from '../../options/option-spec.ts'
import { integerOrNone } from '../../options/value-kind.ts'
import { Clients } from '../../supervisor/clients.ts'
import { database, optional } from '../option-rows.ts'
import { type CommandRun, OptionError } from '../parse-options.ts'
import { count, counted } from '../../lib/number-format.ts'
import { printable } from '../terminal/printable.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { onlyReported } from './clients-list.ts'

export const example = 'tokenweir clients set codex --max-concurrent 2'
export const use = 'acts'
export const table = optionTable({
  maxConcurrent: limit(100_000, 'maximum concurrent calls'),
  tokenLimit: limit(Number.MAX_SAFE_INTEGER, 'tokens in any 24 hours'),
  maxRpm: limit(Number.MAX_SAFE_INTEGER, 'requests per minute'),
  maxTpm: limit(Number.MAX_SAFE_INTEGER, 'tokens per minute'),
  db: database('file of the telemetry database; the limits of clients are next to it'),
})

export const positional = ['<client>', 'its name, or the fingerprint of its key'] as const

function limit(most: number, description: string): OptionRow<number | 'none' | null> {
  return optional(integerOrNone(1, most), `${description}; none removes the limit`)
}

/** `tokenweir clients set <client>`: sets or removes limits. */
export const run: CommandRun<typeof table> = async (options, { positionals: [client = ''], terminal }) => {
  const limits = givenSettings(table, options, ['maxConcurrent', 'tokenLimit', 'maxRpm', 'maxTpm'])
  if (Object.keys(limits).length === 0) {
    throw new OptionError('no limit given: use --max-concurrent, --token-limit, --max-rpm, --max-tpm')
  }
  return change(options.db, terminal, entryName(client), limits)
}

/**
 * Changes the settings of a client, and prints the new ones. Resolves with the exit code; rejects with
 * `JsonFileError`.
 */
export async function change(
  db: string,
  { print }: Terminal,
  of: string,
  changed: ClientChange,
): Promise<number> {
  const clients = new Clients(dirname(db))
  await clients.change(of, changed)
  const report = await clients.report({ clients: [], counted_from: '' })
  const row = report.clients.find(({ client }) => client === of)
  const { name = null, max_concurrent: slots = null, token_limit: tokens = null } = row ?? {}
  const { max_rpm: rpm = null, max_tpm: tpm = null } = row ?? {}
  const words = [
    ...(name === null ? [] : [`its calls count for ${printable(name)}`]),
    ...(slots === null ? [] : [`at most ${counted(slots, 'call')} at once`]),
    ...(tokens === null ? [] : [`${count(tokens)} tokens in 24 hours`]),
    ...(rpm === null ? [] : [`${counted(rpm, 'request')} per minute`]),
    ...(tpm === null ? [] : [`${counted(tpm, 'token')} per minute`]),
  ]
  print(`${printable(of)}: ${words.length === 0 ? 'no limit of its own' : words.join(', ')}\n`)
  if (report.budget_action === null) {
    print(`No running gateway uses ${report.file}: this applies once one starts.\n`)
  }
  if (tokens !== null && report.budget_action === 'report') print(`${onlyReported}\n`)
  return 0
}
