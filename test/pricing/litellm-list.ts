import { seededRandom } from '../support/seeded-random.ts'

/** A list in the form of LiteLLM's, as its file has it. */
export type LiteLlmList = Readonly<Record<string, Readonly<Record<string, unknown>>>>

const sampleSpec = {
  sample_spec: {
    litellm_provider: 'one of the providers',
    mode: 'one of chat, embedding, …',
    input_cost_per_token: 0,
    output_cost_per_token: 0,
    max_tokens: 'LEGACY parameter',
  },
  fallback_generalizations: { 'gpt-4': ['gpt-4-turbo'] },
}

/** In USD per million tokens, as the list writes it: per token, with the noise of floats. */
function perToken(usdPerMillion: number): number {
  return usdPerMillion / 1e6
}

/** Providers and how their keys begin. */
const homes: readonly (readonly [string, string])[] = [
  ['openai', ''],
  ['anthropic', ''],
  ['gemini', 'gemini/'],
  ['xai', 'xai/'],
  ['deepseek', 'deepseek/'],
  ['openrouter', 'openrouter/vendor/'],
  ['azure', 'azure/'],
  ['together_ai', 'together_ai/'],
]

/**
 * So many entries, in which every form of field appears that LiteLLM's list has: all can be priced. The same for the same
 * seed.
 */
export function litellmList(count: number, seed: number): LiteLlmList {
  const random = seededRandom(seed)
  const upTo = (most: number): number => Math.floor(random() * most)
  const usd = (most: number): number => (1 + upTo(most * 100)) / 100
  const list: Record<string, Readonly<Record<string, unknown>>> = { ...sampleSpec }
  for (let i = 0; i < count; i += 1) {
    const [provider, prefix] = homes[i % homes.length] ?? ['openai', '']
    const input = usd(10)
    const form = forms[i % forms.length]
    list[`${prefix}model-${i}`] = {
      litellm_provider: provider,
      mode: i % 17 === 0 ? 'responses' : 'chat',
      max_input_tokens: 128_000,
      supports_vision: true,
      source: 'https://example.com/pricing',
      input_cost_per_token: perToken(input),
      output_cost_per_token: perToken(input * 4),
      ...form?.(input),
    }
  }
  return list
}

const forms: readonly ((input: number) => Readonly<Record<string, unknown>>)[] = [
  () => ({}),
  (input) => ({ cache_read_input_token_cost: perToken(input / 10) }),
  (input) => ({
    cache_read_input_token_cost: perToken(input / 10),
    cache_creation_input_token_cost: perToken(input * 1.25),
    cache_creation_input_token_cost_above_1hr: perToken(input * 2),
    input_cost_per_token_above_200k_tokens: perToken(input * 2),
    output_cost_per_token_above_200k_tokens: perToken(input * 6),
    cache_read_input_token_cost_above_200k_tokens: perToken(input / 5),
    cache_creation_input_token_cost_above_200k_tokens: perToken(input * 2.5),
    cache_creation_input_token_cost_above_1hr_above_200k_tokens: perToken(input * 4),
  }),
  (input) => ({
    input_cost_per_token_priority: perToken(input * 1.5),
    output_cost_per_token_priority: perToken(input * 6),
    cache_read_input_token_cost_priority: perToken(input / 5),
    input_cost_per_token_flex: perToken(input / 2),
    output_cost_per_token_flex: perToken(input * 2),
    input_cost_per_token_batches: perToken(input / 2),
    output_cost_per_token_batches: perToken(input * 2),
    input_cost_per_token_above_272k_tokens: perToken(input * 2),
    input_cost_per_token_above_272k_tokens_priority: perToken(input * 3),
  }),
  (input) => ({
    output_cost_per_reasoning_token: perToken(input * 5),
    input_cost_per_audio_token: perToken(input * 7),
    output_cost_per_audio_token: perToken(input * 9),
  }),
  (input) => ({
    tiered_pricing: [
      {
        range: [0, 32_000],
        input_cost_per_token: perToken(input),
        output_cost_per_token: perToken(input * 5),
      },
      {
        range: [32_000, 128_000],
        input_cost_per_token: perToken(input * 2),
        output_cost_per_token: perToken(input * 10),
        cache_read_input_token_cost: perToken(input / 5),
      },
      {
        range: [128_000, 256_000],
        input_cost_per_token: perToken(input * 3),
        output_cost_per_token: perToken(input * 15),
      },
      {
        range: [256_000, 1_000_000],
        input_cost_per_token: perToken(input * 4),
        output_cost_per_token: perToken(input * 20),
      },
    ],
  }),
  (input) => ({
    mode: 'embedding',
    output_cost_per_token: 0,
    output_vector_size: 1536,
    input_cost_per_token_batches: perToken(input / 2),
  }),
  () => ({ mode: 'rerank', input_cost_per_token: 0, output_cost_per_token: 0, input_cost_per_query: 0.002 }),
  () => ({ input_cost_per_request: 0.005, search_context_cost_per_query: { search_context_size_low: 0.03 } }),
  (input) => ({ input_cost_per_token: String(perToken(input)), cache_read_input_token_cost: null }),
  () => ({ mode: 'completion', litellm_provider: 'text-completion-openai' }),
]

/** So many entries, not one of which can be taken, in all the ways that an entry can be wrong. */
export function brokenEntries(count: number, seed: number): LiteLlmList {
  const random = seededRandom(seed)
  const list: Record<string, Readonly<Record<string, unknown>>> = {}
  const good = {
    litellm_provider: 'openai',
    mode: 'chat',
    input_cost_per_token: 1e-6,
    output_cost_per_token: 4e-6,
  }
  for (let i = 0; i < count; i += 1) {
    const spoil = spoils[i % spoils.length]
    list[`broken-${i}-${Math.floor(random() * 1e6)}`] = spoil?.(good) as Readonly<Record<string, unknown>>
  }
  return list
}

type Spoil = (good: Readonly<Record<string, unknown>>) => unknown

const spoils: readonly Spoil[] = [
  (good) => ({ ...good, input_cost_per_token: 0.135 }),
  (good) => ({ ...good, input_cost_per_token: -1e-6 }),
  (good) => ({ ...good, output_cost_per_token: 'NaN' }),
  (good) => ({ ...good, output_cost_per_token: 'a lot' }),
  (good) => ({ ...good, input_cost_per_token: Infinity }),
  (good) => ({ ...good, cache_read_input_token_cost: 9710 }),
  (good) => ({ ...good, input_cost_per_token_above_200k_tokens: 2 }),
  (good) => ({ ...good, input_cost_per_token_priority: '' }),
  (good) => ({ ...good, input_cost_per_request: 5000 }),
  (good) => ({ ...good, input_cost_per_token: {} }),
  (good) => ({ ...good, input_cost_per_token: 0, output_cost_per_token: 0 }),
  (good) => ({ ...good, input_cost_per_token: null }),
  (good) => ({ ...good, output_cost_per_token: undefined }),
  (good) => ({ ...good, mode: 'image_generation' }),
  (good) => ({ ...good, mode: undefined }),
  (good) => ({ ...good, litellm_provider: undefined }),
  (good) => ({ ...good, litellm_provider: 7 }),
  (good) => ({ ...good, tiered_pricing: 'yes' }),
  (good) => ({ ...good, tiered_pricing: [{ range: ['0', 5], input_cost_per_token: 1e-6 }] }),
  (good) => ({ ...good, tiered_pricing: [{ range: [0, 5] }] }),
  (good) => ({ ...good, tiered_pricing: [{ range: [0, 5], input_cost_per_token: 1 }] }),
  () => null,
  () => [],
  () => 'gpt-4',
  () => 5,
  () => ({}),
  (good) => ({ litellm_provider: good['litellm_provider'], mode: 'chat' }),
]
