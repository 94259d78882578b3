import type { CallType } from '../../src/call/call.ts'
import type { Past, PastClient, PastStep } from '../../src/demo/past.ts'
import type { PastModel } from '../../src/demo/past-call.ts'
import { PastGateway } from '../../src/demo/past-gateway.ts'
import type { Incident, IncidentKind } from '../../src/demo/past-failures.ts'
import {
  between,
  drawFrom,
  integerBetween,
  pickOne,
  type LogNormal,
  type Random,
  weightedPick,
} from '../../src/demo/random.ts'
import type { SimulatedPrices } from '../../src/demo/simulated-models.ts'

interface BusyModel extends PastModel {
  /** How much more often it is asked for than its rank says. */
  readonly favour: number
  readonly prices: SimulatedPrices | null
}

const hosted = 'openrouter.test'
const direct = 'api.openai.test'
const local = '127.0.0.1:8080'
export const upstreams = [direct, hosted, local] as const

type Price = readonly [input: number, output: number] | null
type Figures = readonly [firstTokenMs: number, tokensPerS: number, outputTokens: number, reasoning?: number]

/** The price is in dollars per million tokens of input and output. */
function chat(
  id: string,
  upstream: string,
  [firstTokenMs, tokensPerS, outputTokens, reasoningTokens = 0]: Figures,
  price: Price,
  more: Partial<BusyModel> = {},
): BusyModel {
  const answersAs = upstream === direct ? `${id}-2026-08-01` : id
  const figures = { firstTokenMs, tokensPerS, outputTokens, reasoningTokens, hasTimings: price === null }
  return {
    ...model(id, 'chat', '/v1/chat/completions', upstream, firstTokenMs, price),
    ...figures,
    answersAs,
    ...more,
  }
}

function model(
  id: string,
  callType: CallType,
  endpoint: string,
  upstream: string,
  firstTokenMs: number,
  price: Price,
  favour = 1,
): BusyModel {
  const prices = price === null ? null : { input: price[0], output: price[1], cache_read: price[0] / 4 }
  return { id, callType, endpoint, upstream, firstTokenMs, prices, favour }
}

/** A few models that most calls ask for, and a long tail, by their rank. */
const models: readonly BusyModel[] = [
  chat('gpt-5.1-mini', direct, [420, 95, 180], [0.25, 2]),
  model('text-embedding-3-small', 'embedding', '/v1/embeddings', direct, 48, [0.02, 0], 1.3),
  chat('gpt-5.1', direct, [1100, 60, 160, 160], [1.25, 10]),
  chat('google/gemini-3-flash', hosted, [380, 160, 210], [0.3, 2.5]),
  chat('qwen3-8b-q4', local, [210, 45, 140], null),
  chat('mistralai/mistral-large-3', hosted, [640, 48, 260], [2, 6]),
  chat('deepseek/deepseek-r2', hosted, [1900, 38, 200, 500], [0.55, 2.19]),
  model('bge-m3', 'embedding', '/v1/embeddings', local, 31, null),
  chat('meta/llama-4-scout', hosted, [300, 110, 170], [0.11, 0.34]),
  chat('qwen/qwen3-coder', hosted, [520, 75, 420], [0.22, 0.95]),
  model('cohere/rerank-v4', 'rerank', '/v1/rerank', hosted, 120, [2, 0]),
  chat('gpt-5.1-nano', direct, [260, 150, 60], [0.05, 0.4]),
  chat('davinci-002', direct, [350, 70, 120], [2, 2], { endpoint: '/v1/completions' }),
  model('voyage/voyage-4', 'embedding', '/v1/embeddings', hosted, 75, [0.06, 0]),
  chat('google/gemini-3-pro', hosted, [1500, 55, 200, 300], [1.25, 10]),
  model('bge-reranker-v3', 'rerank', '/v1/rerank', local, 85, null),
  chat('moonshot/kimi-k3', hosted, [800, 42, 350], null, { favour: 0.1 }),
  // Asked for by one call in some ten thousand.
  chat('a-rare-model', hosted, [900, 30, 300], null, { favour: 0.01 }),
  // Calls without a model: the state of a local server, the list of models.
  model('', 'props', '/props', local, 4, null),
  model('', 'other', '/v1/models', direct, 140, null, 0.4),
]

/** A longer tail, up to 60 models. */
const moreModels: readonly BusyModel[] = Array.from({ length: 60 - 18 }, (_, i) =>
  chat(`vendor-${i % 7}/model-${i + 1}`, hosted, [300 + 40 * i, 40 + 3 * i, 100 + 15 * i], [0.2, 1]),
)

const promptTokens: Readonly<Record<CallType, LogNormal>> = {
  chat: { median: 1100, sigma: 1.2 },
  embedding: { median: 350, sigma: 0.8 },
  rerank: { median: 4000, sigma: 0.8 },
  props: { median: 0 },
  other: { median: 0 },
}

interface Habits {
  readonly name: string
  /** Share of all calls, beside the other clients. */
  readonly weight: number
  readonly types: readonly CallType[]
  /** Share of its chats that are streamed. */
  readonly streamed: number
  /** Calls of a session; null where it names none. */
  readonly turns: number | null
}

const everything: readonly CallType[] = ['chat', 'embedding', 'rerank', 'props', 'other']

/** An application or two that make most of the load, and many small ones. */
const clients: readonly Habits[] = [
  { name: 'support-desk', weight: 100, types: ['chat'], streamed: 0.97, turns: 8 },
  { name: 'search-indexer', weight: 90, types: ['embedding', 'rerank'], streamed: 0, turns: null },
  { name: 'openai-python', weight: 60, types: everything, streamed: 0.5, turns: null },
  { name: 'code-assistant', weight: 45, types: ['chat'], streamed: 0.99, turns: 25 },
  { name: 'openai-node', weight: 30, types: everything, streamed: 0.7, turns: null },
  { name: 'nightly-batch', weight: 22, types: ['chat', 'embedding'], streamed: 0, turns: null },
  { name: 'langchain', weight: 14, types: everything, streamed: 0.4, turns: 5 },
  { name: 'curl', weight: 4, types: everything, streamed: 0.2, turns: null },
  { name: 'monitoring', weight: 6, types: ['props', 'other'], streamed: 0, turns: null },
  ...Array.from({ length: 24 }, (_, i) => smallClient(`team-${i + 1}`, 12 / (i + 1))),
  { name: 'a-rare-client', weight: 0.02, types: ['chat'], streamed: 1, turns: null },
]

/** Up to 300 clients. */
const moreClients: readonly Habits[] = Array.from({ length: 300 - clients.length }, (_, i) =>
  smallClient(`app-${i + 1}`, 20 / (i + 8), i % 9 === 0 ? 5 : null),
)

function smallClient(name: string, weight: number, turns: number | null = null): Habits {
  return { name, weight, types: everything, streamed: 0.6, turns }
}

/** The tags of a client: one or two of 20 for most clients. */
function tagsOf(i: number): string | null {
  if (i % 5 === 4) return null
  const team = `team:${i % 17}`
  return i % 2 === 0 ? `env:${['live', 'staging', 'test'][i % 3]},${team}` : team
}

type Draw = (random: Random) => BusyModel

function clientOf(
  { name, weight, types, streamed, turns }: Habits,
  draw: Draw,
  tags: string | null,
): PastClient {
  let hash = 17
  for (const character of name) hash = (Math.imul(hash, 31) + character.charCodeAt(0)) | 0
  const userAgent = name.startsWith('team-') ? 'OpenAI/Python 2.9.0' : `${name}/1.${name.length}.0`
  const rounds = weight / (turns ?? 1)
  return {
    caller: { client: name, userAgent, keyFingerprint: hexOf(Math.imul(hash, 0x9e37_79b1) >>> 0), tags },
    weight: rounds,
    nightWeight: types.includes('chat') ? rounds : 6 * rounds,
    *round(random): Generator<PastStep> {
      const part = (): string => hexOf(Math.floor(random() * 2 ** 32))
      const session = turns === null ? null : `${part()}-${part()}-${part()}`
      let known = 0
      for (let left = turns === null ? 1 : integerBetween(random, 1, 2 * turns - 1); left > 0; left--) {
        const model = draw(random)
        const stream = model.callType === 'chat' && random() < streamed
        const added = Math.round(drawFrom(random, promptTokens[model.callType]))
        if (session === null) known = random() < 0.45 ? added * random() : 0
        const cachedTokens = known < 1024 ? 0 : Math.floor(known / 128) * 128
        const request = { model, stream, cachedTokens, session, tool: random() < 0.06 ? 'search' : null }
        if (session !== null) known += added / 8
        const asked = { ...request, promptTokens: Math.round(session === null ? added : known + added) }
        yield [stream && random() < 0.03 ? { ...asked, leaveAfterMs: between(random, 200, 4000) } : asked]
        if (session !== null) yield drawFrom(random, { median: 20_000 })
      }
    },
  }
}

function hexOf(number: number): string {
  return number.toString(16).padStart(8, '0')
}

const habits: Readonly<
  Record<IncidentKind, { readonly everyDays: number; readonly minutes: readonly [number, number] }>
> = {
  failing: { everyDays: 9, minutes: [50, 70] },
  limited: { everyDays: 12, minutes: [90, 240] },
  slow: { everyDays: 30, minutes: [600, 1440] },
  unreachable: { everyDays: 25, minutes: [6, 20] },
  stopped: { everyDays: 14, minutes: [2, 9] },
}

/** Incidents over the days; none in the last hour. */
function usualIncidents(random: Random, firstMinute: number, minutes: number): readonly Incident[] {
  return (Object.keys(habits) as IncidentKind[]).flatMap((kind) => {
    const { everyDays, minutes: lasting } = habits[kind]
    return Array.from({ length: Math.round(minutes / 1440 / everyDays) }, () => {
      const length = integerBetween(random, ...lasting)
      const fromMinute = firstMinute + integerBetween(random, 0, Math.max(0, minutes - length - 60))
      return { kind, of: pickOne(random, upstreams), fromMinute, toMinute: fromMinute + length }
    })
  })
}

/** A call's rough average duration. A gateway has as many slots as calls are in flight on average, two at least: some calls wait by day. */
const usualCallS = 5

/** The order for the past of a busy house. */
export interface BusyPast {
  readonly calls: number
  readonly days: number
  readonly endMs: number
  readonly seed: number
  /** Of 300 clients, 60 models and 20 tags, in place of some 30, 20 and none. */
  readonly areMany?: boolean
  /** Incidents before a minute since the Unix epoch (default: drawn by the seed). */
  readonly incidents?: (endMinute: number) => readonly Incident[]
}

/** Three upstreams, each with a gateway of its own. */
export function busyPast(
  random: Random,
  { calls, days, endMs, areMany = false, incidents }: BusyPast,
): Past & { readonly prices: Readonly<Record<string, SimulatedPrices>> } {
  const minutes = Math.round(days * 1440)
  const endMinute = Math.floor(endMs / 60_000)
  const firstMinute = endMinute - minutes
  const slots = Math.max(2, Math.round((calls / minutes / 60) * usualCallS))
  const asked = areMany ? [...models, ...moreModels] : models
  const drawOf = (types: readonly CallType[]): Draw =>
    weightedPick(
      asked.filter(({ callType }) => types.includes(callType)),
      (model) => model.favour / (asked.indexOf(model) + 1) ** 1.1,
    )
  return {
    random,
    calls,
    firstMinute,
    minutes,
    aheadOfUtc: 0,
    clients: (areMany ? [...clients, ...moreClients] : clients).map((each, i) =>
      clientOf(each, drawOf(each.types), areMany ? tagsOf(i) : null),
    ),
    incidents: incidents?.(endMinute) ?? usualIncidents(random, firstMinute, minutes),
    gateways: upstreams.map((upstream, i) => new PastGateway(upstream, `gw-${i + 1}`, slots)),
    prices: Object.fromEntries(asked.flatMap(({ id, prices }) => (prices === null ? [] : [[id, prices]]))),
  }
}
