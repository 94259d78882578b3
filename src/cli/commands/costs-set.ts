import type { Command } from 'commander'
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
import { type CostsSetOptions, type CostsSetValues, costsSetOptionTable } from './costs-options.ts'
import { exitCode } from '../exit-code.ts'
import { commandOf, type Environment, OptionError, parseWithOperands } from '../parse-options.ts'
import { tierLines } from '../terminal/rate-words.ts'
import { type Terminal, thisTerminal } from '../terminal/terminal.ts'

export const command = (): Command =>
  commandOf('set', 'set or remove a price of your own', costsSetOptionTable).argument(
    '<name>',
    'a model, or host/model',
  )

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

/** What the options are called in the price file. */
const fieldNames = {
  input: 'input',
  output: 'output',
  cacheRead: 'cache_read',
  cacheWrite: 'cache_write',
  cacheWrite1h: 'cache_write_1h',
  reasoning: 'reasoning',
  inputAudio: 'input_audio',
  outputAudio: 'output_audio',
  perRequest: 'per_request',
  perSearchUnit: 'per_search_unit',
  effectiveFrom: 'effective_from',
} as const satisfies Partial<Record<keyof CostsSetValues, string>>

/** `tokenweir costs set <name>`: sets or removes one's own price. Gives the exit code; throws `OptionError`. */
export async function run(
  argv: readonly string[],
  env: Environment,
  { clock, print, warn }: Terminal = thisTerminal(),
  { lock: lockFile, read, write }: ChangedPrices = realFile,
): Promise<number> {
  const { options, operands } = parseWithOperands(costsSetOptionTable, argv, env)
  const [name, extra] = operands
  if (name === undefined) throw new OptionError('name the model, or host/model')
  if (extra !== undefined) throw new OptionError(`one model at a time; got ${JSON.stringify(extra)} too`)
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
    if (lock === null) throw new Refusal(`something else is changing ${path}; try again in a moment`)
    const costs = costsToChange(read(path), (problem) => brokenFile(path, problem))
    write(path, options.remove ? removed(costs, name, path) : changed(costs, name, body, nowMs))
  } catch (error) {
    if (error instanceof OptionError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    warn(`tokenweir: ${error instanceof Refusal ? reason : `${path}: ${reason}`}\n`)
    return exitCode.fault
  }
  print(options.remove ? `${name} has no price of your own any more.\n` : setWords(name, body))
  return 0
}

/** Why nothing was changed, in words that say all. */
class Refusal extends Error {}

function bodyOf(options: CostsSetOptions): Readonly<Record<string, number | string>> {
  const body: Record<string, number | string> = {}
  for (const [key, field] of Object.entries(fieldNames)) {
    const value = options[key as keyof typeof fieldNames]
    if (value !== null) body[field] = value
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
  if (without === null) throw new Refusal(`${path} has no price of your own for ${JSON.stringify(name)}`)
  return without
}

function brokenFile(path: string, problem: PriceProblem): Refusal {
  return new Refusal(`${path}${placeForEditor(problem)} has to be mended first: ${problem.message}`)
}

function setWords(name: string, body: Readonly<Record<string, number | string>>): string {
  const { effective_from: from, ...rates } = body
  const [line = ''] = tierLines([{ above_input_tokens: 0, ...rates }])
  const since = from === undefined ? '' : ` from ${from} on`
  return `${name} costs ${line}${since}. Calls of before keep their cost; \`tokenweir db reprice\` gives them this one.\n`
}
