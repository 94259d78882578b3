import type { Rates, RateTier } from '../api/costs.ts'
import { EntryError, listedRate, type ListedPrice, type PriceList, readEntries } from './price-list.ts'
import { type Fields, isObject } from '../lib/message-shape.ts'
import { byBound } from './price-tiers.ts'
import { fees, tokenRates } from './rate-bounds.ts'

type MutableTier = { -readonly [Name in keyof RateTier]: RateTier[Name] }

/** Our rates for the fields of LiteLLM's list. All are in USD; those of tokens are per token. */
const fieldRates: Readonly<Record<string, keyof Rates>> = {
  input_cost_per_token: 'input',
  output_cost_per_token: 'output',
  cache_read_input_token_cost: 'cache_read',
  cache_creation_input_token_cost_above_1hr: 'cache_write_1h',
  cache_creation_input_token_cost: 'cache_write',
  output_cost_per_reasoning_token: 'reasoning',
  input_cost_per_audio_token: 'input_audio',
  output_cost_per_audio_token: 'output_audio',
  input_cost_per_request: 'per_request',
  input_cost_per_query: 'per_search_unit',
  input_cost_per_second: 'per_second',
}

/** The longer field name comes first; otherwise its ending would read as a tier. */
const fieldPattern: RegExp = new RegExp(
  `^(${Object.keys(fieldRates).join('|')})(?:_above_(\\d+)k_tokens)?(?:_(flex|priority|batches))?$`,
)

const serviceTiers: Readonly<Record<string, string>> = {
  flex: 'flex',
  priority: 'priority',
  batches: 'batch',
}

const transcription = 'audio_transcription'
const modes: ReadonlySet<unknown> = new Set([
  'chat',
  'completion',
  'responses',
  'embedding',
  'rerank',
  transcription,
])

/** Keys that are not models. */
const notModels: ReadonlySet<string> = new Set(['sample_spec', 'fallback_generalizations'])

/** Providers that LiteLLM lists under several names. */
const providerNames: Readonly<Record<string, string>> = {
  cohere_chat: 'cohere',
  'text-completion-openai': 'openai',
  azure_text: 'azure',
}

/** Providers whose zero prices mean free. For others, zero means unknown, or paid by a subscription. */
const freeProviders: ReadonlySet<string> = new Set(['ollama', 'ollama_chat'])

/** Providers that bill a tier from its bound on, not above it. */
const inclusiveProviders: ReadonlySet<string> = new Set(['xai'])

const longestName = 256

/**
 * Reads LiteLLM's `model_prices_and_context_window.json`; null if the value is no such list. An entry with a
 * number out of bounds is left out, because the rest of such entries is usually wrong, too.
 */
export function fromLiteLlm(raw: unknown): PriceList | null {
  if (!isObject(raw)) return null
  const entries = Object.entries(raw).filter(([name]) => !notModels.has(name))
  return readEntries(entries.map(([name, entry]) => [name, () => listed(name, entry)]))
}

function listed(name: string, entry: unknown): ListedPrice {
  if (!isObject(entry) || name === '' || name.length > longestName || /[\p{Cc}]/u.test(name)) {
    throw new EntryError('bad_entry')
  }
  const { mode, litellm_provider: label } = entry
  if (typeof label !== 'string' || label === '') throw new EntryError('bad_entry')
  if (typeof mode !== 'string' || !modes.has(mode)) throw new EntryError('not_priced_by_token')
  const provider = Object.hasOwn(providerNames, label) ? (providerNames[label] ?? label) : label
  const kind = { provider, mode }
  const ordinary = withRanges(tiersIn(entry, kind, ''), entry['tiered_pricing'], kind)
  const listedTiers = Object.entries(serviceTiers)
    .map(([word, tier]) => [tier, withLongTiers(tiersIn(entry, kind, word), ordinary)] as const)
    .filter(([, [base]]) => base?.above_input_tokens === 0)
  const special = [...fastTiers(entry, ordinary), ...listedTiers]
  return {
    ...kind,
    tiers: complete(ordinary, kind),
    ...(special.length === 0 ? {} : { service_tiers: Object.fromEntries(special) }),
  }
}

/** The tiers of Anthropic's fast mode, for which the list has a factor. */
function fastTiers(
  { provider_specific_entry: factors }: Fields,
  ordinary: readonly MutableTier[],
): readonly (readonly [tier: string, tiers: readonly MutableTier[]])[] {
  const factor = isObject(factors) ? factors['fast'] : undefined
  if (typeof factor !== 'number' || ordinary.length === 0) return []
  const tiers = ordinary.map((tier) => {
    const raised: MutableTier = { ...tier }
    for (const name of tokenRates) {
      const usd = tier[name]
      if (usd !== undefined) raised[name] = listedRate(name, usd * factor, 1e6)
    }
    return raised
  })
  return [['priority', tiers]]
}

/**
 * The tiers of a service tier. For long requests the list often has only the ordinary rates. Providers raise those
 * of service tiers by the same factor.
 */
function withLongTiers(
  own: readonly MutableTier[],
  ordinary: readonly MutableTier[],
): readonly MutableTier[] {
  const [base] = own
  const [plain, ...long] = ordinary
  if (base === undefined || plain === undefined || own.length > 1) return own
  const raised = long.map(({ above_input_tokens, inclusive, ...rates }) => {
    const tier: MutableTier = { above_input_tokens }
    if (inclusive === true) tier.inclusive = true
    for (const name of Object.keys(rates) as (keyof Rates)[]) {
      const [from = 0, to = 0, at] = [plain[name], rates[name], base[name]]
      if (at !== undefined && from > 0) tier[name] = listedRate(name, (at * to) / from, 1e6)
      else if (at === undefined && (name === 'input' || name === 'output')) tier[name] = to
    }
    return tier
  })
  return [base, ...raised.filter((tier) => tokenRates.some((name) => tier[name] !== undefined))]
}

interface Kind {
  readonly provider: string
  readonly mode: string
}

/** The tiers from fields whose names end with a service tier's name (empty for none), smallest bound first. */
function tiersIn(entry: Fields, kind: Kind, word: string): readonly MutableTier[] {
  const tiers = new Map<number, MutableTier>()
  for (const [field, value] of Object.entries(entry)) {
    const [, base = '', above = '0', service = ''] = fieldPattern.exec(field) ?? []
    const rate = fieldRates[base]
    if (rate === undefined || service !== word || value === null || !isBilled(rate, kind)) continue
    const bound = Number(above) * 1000
    const tier = tiers.get(bound) ?? newTier(bound, kind)
    tier[rate] = listedRate(rate, value, 1)
    tiers.set(bound, tier)
  }
  return [...tiers.values()].sort(byBound)
}

/** The tiers; ranges of input tokens, each with its own fields, override the fields beside them. */
function withRanges(tiers: readonly MutableTier[], ranges: unknown, kind: Kind): readonly MutableTier[] {
  if (ranges === undefined || ranges === null) return tiers
  if (!Array.isArray(ranges)) throw new EntryError('bad_entry')
  const all = new Map<number, MutableTier>()
  for (const range of ranges as readonly unknown[]) {
    // For some models the list has tiers by another measure under the same name.
    if (!isObject(range) || !Array.isArray(range['range'])) throw new EntryError('bad_entry')
    const [from] = range['range'] as readonly unknown[]
    if (typeof from !== 'number' || !Number.isSafeInteger(from) || from < 0 || all.has(from)) {
      throw new EntryError('bad_entry')
    }
    const [tier] = tiersIn(range, kind, '')
    if (tier === undefined || tier.above_input_tokens !== 0) throw new EntryError('bad_entry')
    all.set(from, { ...tier, ...newTier(from, kind) })
  }
  const [base] = tiers
  if (!all.has(0) && base !== undefined) all.set(0, base)
  return [...all.values()].sort(byBound)
}

/** The tiers if they have everything that a price needs. Throws {@link EntryError} if not. */
function complete(tiers: readonly MutableTier[], { provider, mode }: Kind): readonly RateTier[] {
  const [base] = tiers
  if (base === undefined || base.above_input_tokens !== 0) throw new EntryError('no_price')
  const isByFee = fees.some((name) => base[name] !== undefined)
  if (base.input === undefined && !isByFee) throw new EntryError('no_price')
  const hasNoOutput = mode === 'embedding' || mode === 'rerank' || isByFee
  if (base.output === undefined && !hasNoOutput) throw new EntryError('no_price')
  base.input ??= 0
  base.output ??= 0
  const isZero = tiers.every((tier) =>
    (['input', 'output', ...fees] as const).every((name) => (tier[name] ?? 0) === 0),
  )
  if (isZero && !freeProviders.has(provider)) throw new EntryError('no_price')
  return tiers
}

function newTier(bound: number, { provider }: Kind): MutableTier {
  const isInclusive = bound > 0 && inclusiveProviders.has(provider)
  return { above_input_tokens: bound, ...(isInclusive ? { inclusive: true } : {}) }
}

function isBilled(rate: keyof Rates, { provider, mode }: Kind): boolean {
  // A chat model's price per query is for its web search, which no usage reports.
  if (rate === 'per_search_unit') return mode === 'rerank'
  // For other modes, the seconds are compute time.
  if (rate === 'per_second') return mode === transcription
  // DeepSeek lists 0 for cache writes, which it bills as input.
  return !(provider === 'deepseek' && rate === 'cache_write')
}
