import { changePrices, PriceFileError } from '../../pricing/change-prices.ts'
import { type ModelCosts, noPrices } from '../../pricing/model-costs.ts'
import { JsonValueError } from '../../options/json-check.ts'
import { withOverride, withoutOverride } from '../../pricing/overrides.ts'
import { placeForEditor, priceFileOf } from '../../pricing/price-file.ts'
import { exitCode } from '../exit-code.ts'
import { type CliCommand, type Environment, OptionError, parseWithModel } from '../parse-options.ts'
import { tierLines } from '../terminal/rate-words.ts'
import { type Terminal, thisTerminal } from '../terminal/terminal.ts'
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

/** `tokenweir costs set <name>`: sets or removes one's own price. Gives the exit code; throws `OptionError`. */
export async function run(
  argv: readonly string[],
  env: Environment,
  { clock, print, warn }: Terminal = thisTerminal(),
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
  const fail = (message: string): number => {
    warn(`tokenweir: ${message}\n`)
    return exitCode.fault
  }
  let after: ModelCosts | null
  try {
    after = await changePrices(path, (before) => {
      const costs = options.remove ? withoutOverride(before, name) : changed(before, name, body, nowMs)
      return [costs, costs]
    })
  } catch (error) {
    if (!(error instanceof PriceFileError)) throw error
    const { problem, message } = error
    if (problem === null) return fail(message)
    return fail(`${path}${placeForEditor(problem)} has to be mended first: ${problem.message}`)
  }
  if (after === null) return fail(`${path} has no price of your own for ${JSON.stringify(name)}`)
  print(options.remove ? `${name} has no price of your own any more.\n` : setWords(name, body))
  return 0
}

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
  try {
    return withOverride(costs, name, body, new Date(nowMs).toISOString()).costs
  } catch (error) {
    if (!(error instanceof JsonValueError)) throw error
    const param = String(error.path[0])
    const option = param === 'name' ? 'the name' : `--${param.replaceAll('_', '-')}`
    throw new OptionError(`${option} must be ${error.allowed}`)
  }
}

function setWords(name: string, body: Readonly<Record<string, number | string>>): string {
  const { effective_from: from, ...rates } = body
  const [line = ''] = tierLines([{ above_input_tokens: 0, ...rates }])
  const since = from === undefined ? '' : ` from ${from} on`
  return `${name} costs ${line}${since}. Calls of before keep their cost; \`tokenweir db reprice\` gives them this one.\n`
}
