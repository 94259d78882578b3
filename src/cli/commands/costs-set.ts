import { changePrices, pricesToChange } from '../../pricing/change-prices.ts'
import { type ModelCosts, noPrices } from '../../pricing/model-costs.ts'
import { JsonValueError } from '../../options/schema.ts'
import { withOverride, withoutOverride } from '../../pricing/overrides.ts'
import { priceFileOf } from '../../pricing/price-file.ts'
import { count } from '../../lib/number-format.ts'
import { numberFromZero } from '../../lib/typed-number.ts'
import { CommandError } from '../exit-code.ts'
import { type CommandRun, OptionError } from '../parse-options.ts'
import { tierLines } from '../terminal/rate-text.ts'
import { givenSettings, type OptionRow, optionTable } from '../../options/option-spec.ts'
import { instant, type ValueKind } from '../../options/value-kind.ts'
import { mostUsd } from '../../pricing/rate-bounds.ts'
import { database, flag, optional } from '../option-rows.ts'

const usd: ValueKind<number> = {
  placeholder: '<usd>',
  range: `a number from 0 to ${count(mostUsd)}`,
  parse: (text) => {
    const value = numberFromZero(text)
    return value !== null && value <= mostUsd ? value : undefined
  },
}

/** The start of a price. The text is saved as it was typed. */
const priceTime: ValueKind<string> = {
  ...instant,
  parse: (text) => (instant.parse(text) === undefined ? undefined : text),
}

const prices = {
  input: amount('input tokens, in USD per million'),
  output: amount('output tokens, in USD per million'),
  cacheRead: amount('cached input tokens, in USD per million (default: as --input)'),
  cacheWrite: amount('cache writes, in USD per million tokens (default: as --input)'),
  cacheWrite1h: amount('one-hour cache writes, in USD per million tokens (default: as --cache-write)'),
  reasoning: amount('reasoning tokens, in USD per million (default: as --output)'),
  inputAudio: amount('audio input tokens, in USD per million (default: as --input)'),
  outputAudio: amount('audio output tokens, in USD per million (default: as --output)'),
  image: amount('tokens of images made by a tool, in USD per million'),
  perRequest: amount('each call, in USD'),
  perSearchUnit: amount('each search unit of a rerank call, in USD'),
  perSecond: amount('each second of audio, in USD'),
  effectiveFrom: optional(
    priceTime,
    'when the price starts; earlier prices are kept (default: the price replaces all others)',
  ),
}

export const example = 'tokenweir costs set qwen3-8b --input 0.02 --output 0.08'
export const use = 'acts'
export const table = optionTable({
  ...prices,
  remove: flag('remove the price'),
  db: database('file of the telemetry database; the prices are next to it'),
})

function amount(what: string): OptionRow<number | null> {
  return optional(usd, `price of ${what}`)
}

export const positional = ['<name>', 'a model, or host/model', 'model'] as const

/** `tokenweir costs set <name>`: sets or removes the user's own price of a model. */
export const run: CommandRun<typeof table> = async (
  options,
  { positionals: [name = ''], terminal: { clock, print } },
) => {
  const body = givenSettings(table, options, Object.keys(prices) as (keyof typeof prices)[])
  if (options.remove && Object.keys(body).length > 0) {
    throw new OptionError('--remove cannot be used with a price')
  }
  const now = new Date(clock.wallTime()).toISOString()
  const change = (costs: ModelCosts): ModelCosts | null =>
    options.remove ? withoutOverride(costs, name) : withOverride(costs, name, body, now).costs
  const path = priceFileOf(options.db)
  try {
    // Reports errors in the values before anything is awaited.
    change(noPrices)
    // Without a price to remove, no file is created.
    const isThere = !options.remove || change(pricesToChange(path)) !== null
    const isChanged =
      isThere &&
      (await changePrices(path, (before) => {
        const costs = change(before)
        return [costs, costs !== null]
      }))
    if (!isChanged)
      throw new CommandError(
        `${path} has no price of your own for ${JSON.stringify(name)}: tokenweir costs show lists them`,
      )
    print(options.remove ? `Removed your price of ${name}.\n` : setText(name, body))
    return 0
  } catch (error) {
    throw error instanceof JsonValueError ? new OptionError(flawText(error)) : error
  }
}

function flawText({ path: [param = ''], flaw }: JsonValueError): string {
  const option = param === 'name' ? 'the name' : `--${String(param).replaceAll('_', '-')}`
  return `${option} ${flaw}`
}

function setText(name: string, body: Readonly<Record<string, number | string | null>>): string {
  const { effective_from: from, ...rates } = body
  const [line = ''] = tierLines([{ above_input_tokens: 0, ...rates }])
  const since = from === undefined ? '' : ` from ${from} on`
  return `${name} costs ${line}${since}. Recorded costs do not change; \`tokenweir db reprice\` recalculates them.\n`
}
