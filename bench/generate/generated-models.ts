import type { CallType } from '../../src/call/call.ts'
import type { LogNormal } from '../../src/demo/random.ts'

export interface GeneratedModel {
  readonly name: string
  /** The model's name in the upstream's answers. */
  readonly answersAs: string
  readonly type: CallType
  readonly endpoint: string
  readonly upstream: string
  /** Its share of all calls, before the hour of the day is applied. */
  readonly weight: number
  /** Until the first token of a chat, or until the whole answer of anything else. */
  readonly firstMs: LogNormal
  /** Of each further token; null where the answer comes in one piece. */
  readonly tokenMs: LogNormal | null
  readonly inputTokens: LogNormal
  readonly outputTokens: LogNormal | null
  /** Share of output that is reasoning. */
  readonly reasoning: number
  /** Dollars per million tokens of input and output; null if unpriced. */
  readonly price: readonly [input: number, output: number] | null
}

const steady = 0.35
const hosted = 'openrouter.test'
const direct = 'api.openai.test'
const local = '127.0.0.1:8080'

/** The nth of a popularity that falls as 1 ÷ rank (Zipf). */
function zipf(rank: number): number {
  return 1 / rank ** 1.1
}

interface ChatTraits {
  readonly upstream: string
  readonly firstMs: number
  readonly tokensPerS: number
  readonly outputTokens: number
  readonly reasoning?: number
  readonly price: readonly [number, number] | null
  readonly endpoint?: string
}

function chat(name: string, weight: number, traits: ChatTraits): GeneratedModel {
  return {
    name,
    answersAs: traits.upstream === direct ? `${name}-2026-08-01` : name,
    type: 'chat',
    endpoint: traits.endpoint ?? '/v1/chat/completions',
    upstream: traits.upstream,
    weight,
    firstMs: { median: traits.firstMs, sigma: 0.55 },
    tokenMs: { median: 1000 / traits.tokensPerS, sigma: steady },
    inputTokens: { median: 1100, sigma: 1.2 },
    outputTokens: { median: traits.outputTokens, sigma: 0.9 },
    reasoning: traits.reasoning ?? 0,
    price: traits.price,
  }
}

function atOnce(
  name: string,
  weight: number,
  type: CallType,
  endpoint: string,
  upstream: string,
  firstMs: number,
  price: readonly [number, number] | null,
): GeneratedModel {
  return {
    name,
    answersAs: name,
    type,
    endpoint,
    upstream,
    weight,
    firstMs: { median: firstMs, sigma: 0.45 },
    tokenMs: null,
    inputTokens: { median: type === 'rerank' ? 4000 : 350, sigma: 0.8 },
    outputTokens: null,
    reasoning: 0,
    price,
  }
}

/** Whom the generated traffic goes to: three upstreams, a few models that most calls ask for, and a long tail. */
export const generatedModels: readonly GeneratedModel[] = [
  chat('gpt-5.1-mini', zipf(1), {
    upstream: direct,
    firstMs: 420,
    tokensPerS: 95,
    outputTokens: 180,
    price: [0.25, 2],
  }),
  atOnce('text-embedding-3-small', zipf(2) * 1.3, 'embedding', '/v1/embeddings', direct, 48, [0.02, 0]),
  chat('gpt-5.1', zipf(3), {
    upstream: direct,
    firstMs: 1100,
    tokensPerS: 60,
    outputTokens: 320,
    reasoning: 0.5,
    price: [1.25, 10],
  }),
  chat('google/gemini-3-flash', zipf(4), {
    upstream: hosted,
    firstMs: 380,
    tokensPerS: 160,
    outputTokens: 210,
    price: [0.3, 2.5],
  }),
  chat('qwen3-8b-q4', zipf(5), {
    upstream: local,
    firstMs: 210,
    tokensPerS: 45,
    outputTokens: 140,
    price: null,
  }),
  chat('mistralai/mistral-large-3', zipf(6), {
    upstream: hosted,
    firstMs: 640,
    tokensPerS: 48,
    outputTokens: 260,
    price: [2, 6],
  }),
  chat('deepseek/deepseek-r2', zipf(7), {
    upstream: hosted,
    firstMs: 1900,
    tokensPerS: 38,
    outputTokens: 700,
    reasoning: 0.7,
    price: [0.55, 2.19],
  }),
  atOnce('bge-m3', zipf(8), 'embedding', '/v1/embeddings', local, 31, null),
  chat('meta/llama-4-scout', zipf(9), {
    upstream: hosted,
    firstMs: 300,
    tokensPerS: 110,
    outputTokens: 170,
    price: [0.11, 0.34],
  }),
  chat('qwen/qwen3-coder', zipf(10), {
    upstream: hosted,
    firstMs: 520,
    tokensPerS: 75,
    outputTokens: 420,
    price: [0.22, 0.95],
  }),
  atOnce('cohere/rerank-v4', zipf(11), 'rerank', '/v1/rerank', hosted, 120, [2, 0]),
  chat('gpt-5.1-nano', zipf(12), {
    upstream: direct,
    firstMs: 260,
    tokensPerS: 150,
    outputTokens: 60,
    price: [0.05, 0.4],
  }),
  chat('davinci-002', zipf(13), {
    upstream: direct,
    firstMs: 350,
    tokensPerS: 70,
    outputTokens: 120,
    price: [2, 2],
    endpoint: '/v1/completions',
  }),
  atOnce('voyage/voyage-4', zipf(14), 'embedding', '/v1/embeddings', hosted, 75, [0.06, 0]),
  chat('google/gemini-3-pro', zipf(15), {
    upstream: hosted,
    firstMs: 1500,
    tokensPerS: 55,
    outputTokens: 500,
    reasoning: 0.6,
    price: [1.25, 10],
  }),
  atOnce('bge-reranker-v3', zipf(16), 'rerank', '/v1/rerank', local, 85, null),
  chat('moonshot/kimi-k3', zipf(17) / 10, {
    upstream: hosted,
    firstMs: 800,
    tokensPerS: 42,
    outputTokens: 350,
    price: null,
  }),
  /** One call in some ten thousand. */
  chat('a-rare-model', 0.0004, {
    upstream: hosted,
    firstMs: 900,
    tokensPerS: 30,
    outputTokens: 300,
    price: null,
  }),
]

/** 60 models: the same with a longer tail. */
export const manyModels: readonly GeneratedModel[] = [
  ...generatedModels,
  ...Array.from({ length: 60 - generatedModels.length }, (_, i) =>
    chat(`vendor-${i % 7}/model-${i + 1}`, zipf(18 + i), {
      upstream: hosted,
      firstMs: 300 + 40 * i,
      tokensPerS: 40 + 3 * i,
      outputTokens: 100 + 15 * i,
      price: [0.2, 1],
    }),
  ),
]

/** Calls without a model: the state of a local server, the list of models. */
export const generatedProbes: readonly GeneratedModel[] = [
  { ...atOnce('', 1, 'props', '/props', local, 4, null), inputTokens: { median: 0, sigma: 0 } },
  { ...atOnce('', 0.4, 'other', '/v1/models', direct, 140, null), inputTokens: { median: 0, sigma: 0 } },
]

export const upstreams: readonly string[] = [direct, hosted, local]
