import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { PriceProblem } from '../../api/costs.ts'
import { type ModelCosts, noPrices } from '../../pricing/model-costs.ts'
import { withOverride, withoutOverride } from '../../pricing/overrides.ts'
import {
  costsToChange,
  lockPriceFile,
  placeForEditor,
  priceFileOf,
  type PriceReading,
  readPricesInForce,
  writePriceFile,
} from '../../pricing/price-file.ts'
import { exitCode } from '../exit-code.ts'
import { type CliCommand, type Environment, OptionError, parseWithModel } from '../parse-options.ts'
import { tierLines } from '../terminal/rate-words.ts'
import { type Terminal, thisTerminal } from '../terminal/terminal.ts'
import { messageOf } from '../../lib/caught.ts'
import { parseIsoInstant } from '../../lib/iso-instant.ts'
import { type OptionRow, type OptionsOf, optionTable, settingName } from '../../options/option-spec.ts'
import type { ValueKind } from '../../options/value-kind.ts'
import { mostUsd } from '../../pricing/rate-bounds.ts'
import { database, flag, optional } from '../option-rows.ts'

const usd: ValueKind<number> = {
  placeholder: '<usd>',
  range: `a number from 0 to ${mostUsd}`,
  parse: (text) => {
    const value = /^\d{1,4}(?:\.\d{1,12})?$/.test(text) ? Number(text) : NaN
    return value <= mostUsd ? value : undefined
  },
}

const priceTime: ValueKind<string> = {
  placeholder: '<time>',
  range: 'an instant in ISO 8601 such as 2026-11-21T04:00:00Z, or a day of UTC such as 2026-11-21',
  parse: (text) => (parseIsoInstant(text) === null ? undefined : text),
}

const prices = {
  input: amount('input tokens, in USD per million'),
  output: amount('output tokens, in USD per million'),
  cacheRead: amount('cached input tokens, in USD per million; as input unless given'),
  cacheWrite: amount('input tokens written to the cache, in USD per million; as input unless given'),
  cacheWrite1h: amount('those written for an hour, in USD per million; as --cache-write unless given'),
  reasoning: amount('reasoning tokens, in USD per million; as output unless given'),
  inputAudio: amount('input tokens of audio, in USD per million; as input unless given'),
  outputAudio: amount('output tokens of audio, in USD per million; as output unless given'),
  perRequest: amount('each call, in USD'),
  perSearchUnit: amount('each search unit of a rerank call, in USD'),
  effectiveFrom: optional(
    priceTime,
    'from when it holds, beside earlier prices; always, in place of all others, unless given',
  ),
}

const table = optionTable({
  ...prices,
  remove: flag('take the price away'),
  db: database('file of the telemetry database; the prices lie beside it'),
})

function amount(what: string): OptionRow<number | null> {
  return optional(usd, `price of ${what}`)
}

export const command: CliCommand = {
  name: 'costs set',
  description: 'set or remove a price of your own',
  options: table,
  operand: ['<name>', 'a model, or host/model'],
}

/** The price file as it is changed. */
export interface ChangedPrices {
  /** Makes the folder if there is none. Null if another holds it for too long. */
  readonly lock: (path: string) => Promise<Disposable | null>
  readonly read: (path: string) => PriceReading
  readonly write: (path: string, costs: ModelCosts) => void
}

/** Others hold the lock for as long as reading and writing a file takes. */
const lockLimitMs = 5000

const realFile: ChangedPrices = {
  lock: (path) => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    return lockPriceFile(path, lockLimitMs)
  },
  read: readPricesInForce,
  write: writePriceFile,
}

/** `tokenweir costs set <name>`: sets or removes one's own price. Gives the exit code; throws `OptionError`. */
export async function run(
  argv: readonly string[],
  env: Environment,
  { clock, print, warn }: Terminal = thisTerminal(),
  { lock: lockFile, read, write }: ChangedPrices = realFile,
): Promise<number> {
  const { options, model: name } = parseWithModel(table, argv, env)
  if (name === undefined) throw new OptionError('name the model, or host/model')
  const body = bodyOf(options)
  if (options.remove && Object.keys(body).length > 0) {
    throw new OptionError('--remove takes the price away: it cannot be set as well')
  }
  const nowMs = clock.wallTime()
  // Before anything is waited for.
  if (!options.remove) changed(noPrices, name, body, nowMs)
  const path = priceFileOf(options.db)
  try {
    using lock = await lockFile(path)
    if (lock === null) throw new UnchangedError(`something else is changing ${path}; try again in a moment`)
    const costs = costsToChange(read(path), (problem) => brokenFile(path, problem))
    write(path, options.remove ? removed(costs, name, path) : changed(costs, name, body, nowMs))
  } catch (error) {
    if (error instanceof OptionError) throw error
    warn(`tokenweir: ${error instanceof UnchangedError ? '' : `${path}: `}${messageOf(error)}\n`)
    return exitCode.fault
  }
  print(options.remove ? `${name} has no price of your own any more.\n` : setWords(name, body))
  return 0
}

/** Why nothing was changed, in words that say all. */
class UnchangedError extends Error {}

/** What is set, under the names that it has in the price file. */
function bodyOf(options: OptionsOf<typeof table>): Readonly<Record<string, number | string>> {
  const body: Record<string, number | string> = {}
  for (const key of Object.keys(prices) as (keyof typeof prices)[]) {
    const given = options[key]
    if (given !== null) body[settingName(table[key].name)] = given
  }
  return body
}

function changed(
  costs: ModelCosts,
  name: string,
  body: Readonly<Record<string, number | string>>,
  nowMs: number,
): ModelCosts {
  const reading = withOverride(costs, name, body, new Date(nowMs).toISOString())
  if ('costs' in reading) return reading.costs
  const { param, allowed } = reading.problem
  const option = param === 'name' ? 'the name' : `--${param.replaceAll('_', '-')}`
  throw new OptionError(`${option} must be ${allowed}`)
}

function removed(costs: ModelCosts, name: string, path: string): ModelCosts {
  const without = withoutOverride(costs, name)
  if (without === null)
    throw new UnchangedError(`${path} has no price of your own for ${JSON.stringify(name)}`)
  return without
}

function brokenFile(path: string, problem: PriceProblem): UnchangedError {
  return new UnchangedError(`${path}${placeForEditor(problem)} has to be mended first: ${problem.message}`)
}

function setWords(name: string, body: Readonly<Record<string, number | string>>): string {
  const { effective_from: from, ...rates } = body
  const [line = ''] = tierLines([{ above_input_tokens: 0, ...rates }])
  const since = from === undefined ? '' : ` from ${from} on`
  return `${name} costs ${line}${since}. Calls of before keep their cost; \`tokenweir db reprice\` gives them this one.\n`
}
