import { existsSync } from 'node:fs'
import type { WhyUnpriced } from '../../api/costs.ts'
import { type ModelCosts, noPrices } from '../../pricing/model-costs.ts'
import { matchedPrice, type NoPrice, type Price, PriceBook } from '../../pricing/price-book.ts'
import { placeInFile, priceFileOf, readPricesInForce, shippedPriceFile } from '../../pricing/price-file.ts'
import { knownUpstreams } from '../../pricing/upstream-table.ts'
import { count } from '../../lib/number-format.ts'
import { CommandError, exitCode } from '../exit-code.ts'
import type { CommandContext } from '../parse-options.ts'
import { printable } from '../terminal/printable.ts'
import { tierLines } from '../terminal/rate-text.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { type OptionsOf, optionTable } from '../../options/option-spec.ts'
import type { ValueKind } from '../../options/value-kind.ts'
import { database, flag, optional } from '../option-rows.ts'

/** A host, with its port if given; of a URL, its host. */
const upstreamHost: ValueKind<string> = {
  placeholder: '<host>',
  range: 'a host such as api.openai.com or 127.0.0.1:8080, or a URL',
  parse: (text) => {
    const isUrl = /^https?:\/\//i.test(text)
    const url = URL.parse(isUrl ? text : `http://${text}`)
    const isPlain = url?.username === '' && url.password === '' && (isUrl || url.pathname === '/')
    return isPlain ? url.host : undefined
  },
}

export const example = 'tokenweir costs show gpt-4.1-mini'
export const use = 'reads'
export const table = optionTable({
  upstream: optional(upstreamHost, 'host or URL the model is called at (default: any)'),
  json: flag('print one JSON object'),
  db: database('file of the telemetry database; the prices are next to it'),
})

export const positional = ['[model]', ''] as const

/** `tokenweir costs show [model]`: a model's prices, or all prices. Returns the exit code; throws `CommandError`. */
export function run(
  options: OptionsOf<typeof table>,
  { positionals: [model], terminal }: CommandContext,
  shipped: string = shippedPriceFile(),
): number {
  const path = priceFileOf(options.db)
  const reading = readPricesInForce(path, shipped)
  if ('problem' in reading) {
    const why = `${path}${placeInFile(reading.problem)}: ${reading.problem.message}`
    throw new CommandError(`${why} A running gateway keeps the last valid prices.`)
  }
  const costs = reading.costs ?? noPrices
  if (model === undefined) {
    showState(costs, path, options.json, terminal)
    return 0
  }
  const shown = pricesOf(model, new PriceBook(costs), options.upstream, terminal.clock.wallTime())
  if (options.json) {
    const prices = shown.map(([upstream, price]) => ({ upstream, price: matchedPrice(price) }))
    terminal.print(`${JSON.stringify({ model, prices })}\n`)
  } else
    terminal.print(shown.map(([upstream, price]) => textOf(printable(model), upstream, price)).join('\n'))
  return shown.some(([, price]) => 'none' in price) ? exitCode.fault : 0
}

/**
 * The prices of a model at an upstream; for null, an override for all upstreams, or else the prices at every
 * upstream that has listed ones.
 */
function pricesOf(model: string, book: PriceBook, upstream: string | null, nowMs: number) {
  const at = (host: string | null) => {
    const call = { upstream: host, model, responseModel: null, serviceTier: null, startedAtMs: nowMs }
    return [host, book.price(call)] as const
  }
  const [, anywhere] = at(null)
  if (upstream !== null || !('none' in anywhere)) return [at(upstream)]
  const hosts = Object.keys(knownUpstreams).filter((host) => !host.startsWith('*'))
  const priced = hosts.map(at).filter(([, price]) => !('none' in price))
  return priced.length > 0 ? priced : [[null, { none: 'no_entry' }] as const]
}

function textOf(model: string, upstream: string | null, price: Price | NoPrice): string {
  const host = upstream === null ? '' : ` at ${upstream}`
  if ('none' in price) return `${model}${host}: ${noPriceText[price.none]}\n`
  const { match, isOverride } = price
  const services = Object.entries(match.service_tiers ?? {})
  const lines = [
    `${model}${host}`,
    `  entry    ${match.key}${isOverride ? ', an override' : ''}`,
    `  source   ${match.source}${match.updated_at === null ? '' : `, as of ${match.updated_at}`}`,
    `  holds    from ${match.effective_from ?? 'the beginning'}`,
    ...tierLines(match.tiers).map((line) => `  ${line}`),
    ...services.flatMap(([name, tiers]) => tierLines(tiers).map((line) => `  ${name}: ${line}`)),
  ]
  return `${lines.join('\n')}\n`
}

const noPriceText: Readonly<Record<WhyUnpriced, string>> = {
  local: 'runs on this machine or network and has no price; set one with `tokenweir costs set`',
  no_entry: 'no known price; set one with `tokenweir costs set`',
  unknown_upstream: 'no price list covers this upstream; set one with `tokenweir costs set`',
  no_model: 'no model in the calls',
}

function showState(
  { synced_at: syncedAt, source, models, overrides }: ModelCosts,
  path: string,
  isJson: boolean,
  { print }: Terminal,
): void {
  const file = existsSync(path) ? path : null
  const modelCount = Object.keys(models).length
  if (isJson) {
    print(`${JSON.stringify({ file, synced_at: syncedAt, source, models: modelCount, overrides })}\n`)
    return
  }
  const from = source === null ? '' : ` from ${source.name}`
  const synced = syncedAt === null ? 'never synced' : `synced ${syncedAt}`
  const where = file ?? `${path} does not exist yet: these are the shipped prices`
  const lines = Object.entries(overrides).map(([name, { prices }]) => {
    const { effective_from: date = null, tiers = [] } = prices.at(-1) ?? {}
    return `  ${name}: ${tierLines(tiers).join('; ')}${date === null ? '' : `, from ${date}`}`
  })
  print(`${count(modelCount)} prices${from}, ${synced} (${where})\n`)
  print(
    lines.length === 0 ? 'No prices of your own.\n' : `${lines.length} of your own:\n${lines.join('\n')}\n`,
  )
}
