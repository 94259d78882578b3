import type { CallType } from '../../src/call/call.ts'
import { drawFrom, type Random } from '../../src/demo/random.ts'
import { callTypeCodes, outcomeCodes, usageSourceCodes } from '../../src/call/fields/call-fields.ts'
import { at, type CallRow, emptyRow, type WordIds } from './call-rows.ts'
import { type DemoClient, demoClients, manyClients } from './demo-clients.ts'
import { endBadly } from './generated-failures.ts'
import {
  type GeneratedModel,
  generatedModels,
  generatedProbes,
  manyModels,
  upstreams,
} from './generated-models.ts'
import type { Incident } from './incidents.ts'
import { exponential, heavyTail, WeightedPlaces } from './seeded-random.ts'

/** What all calls of a minute share. */
export interface MinuteState {
  readonly incidents: readonly Incident[]
  /** Calls in flight ÷ slots, as the minute's load would make it without a limit. */
  readonly pressure: number
  readonly isNight: boolean
}

const probeShare = 0.02

/** Makes calls up, one row after the other. */
export class GeneratedCalls {
  readonly #random: Random
  readonly #words: WordIds
  readonly #models: readonly GeneratedModel[]
  readonly #byDay: WeightedPlaces
  /** Jobs that fill search indexes run by night. */
  readonly #byNight: WeightedPlaces
  readonly #probes = new WeightedPlaces(generatedProbes.map(({ weight }) => weight))
  readonly #clients: Readonly<Record<CallType, readonly DemoClient[]>>
  readonly #clientPlaces: Readonly<Record<CallType, WeightedPlaces>>
  readonly #sessions = new Map<string, number>()

  constructor(random: Random, words: WordIds, areMany: boolean) {
    this.#random = random
    this.#words = words
    this.#models = areMany ? manyModels : generatedModels
    this.#byDay = new WeightedPlaces(this.#models.map(({ weight }) => weight))
    this.#byNight = new WeightedPlaces(
      this.#models.map(({ type, weight }) => (type === 'chat' ? weight : weight * 6)),
    )
    const of = (type: CallType): readonly DemoClient[] =>
      (areMany ? manyClients : demoClients).filter(({ types }) => types.includes(type))
    const clients = { chat: of('chat'), embedding: of('embedding'), rerank: of('rerank') }
    this.#clients = { ...clients, props: of('props'), other: of('other') }
    const places = (type: CallType): WeightedPlaces =>
      new WeightedPlaces(this.#clients[type].map(({ weight }) => weight))
    this.#clientPlaces = {
      chat: places('chat'),
      embedding: places('embedding'),
      rerank: places('rerank'),
      props: places('props'),
      other: places('other'),
    }
    for (const upstream of upstreams) words.idOf('instances', instanceOf(upstream))
  }

  /** A row without `id` and `seq`. */
  next(minute: MinuteState): CallRow {
    const random = this.#random
    const model = this.#model(minute)
    const client = this.#clients[model.type][this.#clientPlaces[model.type].draw(random)]!
    const incidents = minute.incidents.filter(({ upstream }) => upstream === model.upstream)
    const isStream = model.tokenMs !== null && random() < client.streamed
    const row = this.#head(model, client, isStream)
    const slowness = incidents.some(({ kind }) => kind === 'slow') ? 2.5 + random() : 1
    row[at.queue_us] = this.#queueUs(minute, slowness)
    this.#answer(row, model, isStream, slowness)
    endBadly(random, this.#words, row, { incidents, isStream, pressure: minute.pressure })
    return row
  }

  #model({ isNight }: MinuteState): GeneratedModel {
    const random = this.#random
    if (random() < probeShare) return generatedProbes[this.#probes.draw(random)]!
    return this.#models[(isNight ? this.#byNight : this.#byDay).draw(random)]!
  }

  #head(model: GeneratedModel, client: DemoClient, isStream: boolean): CallRow {
    const words = this.#words
    const row = emptyRow()
    const hasBody = model.name !== ''
    row[at.call_type_id] = callTypeCodes[model.type]
    row[at.endpoint_id] = words.idOf('endpoints', model.endpoint)
    row[at.method_id] = words.idOf('labels', hasBody ? 'POST' : 'GET')
    row[at.stream] = isStream ? 1 : 0
    if (hasBody) row[at.model_id] = words.idOf('models', model.name)
    row[at.upstream_id] = words.idOf('upstreams', model.upstream)
    row[at.instance_id] = words.idOf('instances', instanceOf(model.upstream))
    row[at.attempts] = 1
    row[at.client_retry] = 0
    row[at.receive_us] = Math.round(drawFrom(this.#random, { median: 130, sigma: 0.6 }))
    row[at.client_id] = words.idOf('clients', client.name)
    row[at.user_agent_id] = words.idOf('user_agents', client.userAgent)
    row[at.key_fingerprint] = client.keyFingerprint
    if (client.tags !== null) row[at.tags_id] = words.idOfTags(client.tags)
    if (client.newSession !== null) row[at.session_id] = this.#session(client.name, client.newSession)
    return row
  }

  #session(client: string, chance: number): number {
    const known = this.#sessions.get(client)
    if (known !== undefined && this.#random() >= chance) return known
    const part = (): string => (this.#random() * 2 ** 32).toString(16).padStart(8, '0').slice(0, 8)
    const id = this.#words.added('sessions', `${part()}-${part()}-${part()}`)
    this.#sessions.set(client, id)
    return id
  }

  /** Hardly anything while slots are free. */
  #queueUs({ pressure }: MinuteState, slowness: number): number {
    const random = this.#random
    const busy = pressure * slowness
    const chance = busy < 0.6 ? 0.003 : Math.min(0.9, (busy - 0.6) * 0.7)
    if (random() >= chance) return 1 + Math.floor(random() * 12)
    return Math.round(1000 * exponential(random, 150 * (1 + busy * busy * 3)))
  }

  /** A successful answer. */
  #answer(row: CallRow, model: GeneratedModel, isStream: boolean, slowness: number): void {
    const random = this.#random
    const words = this.#words
    const firstUs = 1000 * heavyTail(random, model.firstMs) * slowness
    const inputTokens = Math.round(drawFrom(random, model.inputTokens))
    const hasUsage = model.name !== '' && (!isStream || random() < 0.94)
    let outputTokens = 0
    let answerUs = firstUs
    if (model.tokenMs !== null && model.outputTokens !== null) {
      outputTokens = Math.max(1, Math.round(drawFrom(random, model.outputTokens)))
      const tokenUs = 1000 * drawFrom(random, model.tokenMs) * slowness
      answerUs += tokenUs * (outputTokens - 1)
      row[at.finish_reason_id] = words.idOf(
        'labels',
        random() < 0.9 ? 'stop' : random() < 0.6 ? 'tool_calls' : 'length',
      )
      if (isStream)
        this.#streamed(row, { firstUs, tokenUs, outputTokens, reasoning: model.reasoning, hasUsage })
      row[at.response_bytes] = isStream ? 600 + outputTokens * 240 : 700 + outputTokens * 4
    } else row[at.response_bytes] = model.type === 'embedding' ? 21_000 : 900
    if (!isStream) row[at.ttfb_us] = Math.round(answerUs)
    const overheadUs = 180 + Math.floor(random() * 240)
    row[at.overhead_us] = overheadUs
    if (random() < 0.04) row[at.connect_us] = Math.round(1000 * drawFrom(random, { median: 22, sigma: 0.5 }))
    row[at.duration_us] = Math.round(
      Number(row[at.receive_us]) + Number(row[at.queue_us]) + answerUs + overheadUs,
    )
    row[at.status] = 200
    row[at.outcome_id] = outcomeCodes.ok
    row[at.request_bytes] = model.name === '' ? 0 : 300 + inputTokens * 4
    row[at.usage_source_id] = usageSourceCodes.none
    if (model.name === '') return
    row[at.response_model_id] = words.idOf('models', model.answersAs)
    if (model.type === 'rerank') row[at.search_units] = 1
    if (hasUsage) this.#usage(row, model, inputTokens, outputTokens)
  }

  #streamed(
    row: CallRow,
    of: {
      readonly firstUs: number
      readonly tokenUs: number
      readonly outputTokens: number
      readonly reasoning: number
      readonly hasUsage: boolean
    },
  ): void {
    const random = this.#random
    const { firstUs, tokenUs, outputTokens } = of
    const gapUs = tokenUs * (1 + random() * 0.2)
    const maxUs = heavyTail(random, { median: gapUs * 3, sigma: 0.8 })
    row[at.ttfb_us] = Math.round(firstUs * 0.97)
    row[at.ttft_us] = Math.round(firstUs)
    const thinking = random() < 0.8 ? Math.floor(outputTokens * of.reasoning) : 0
    row[at.ttfo_us] = Math.round(firstUs + thinking * tokenUs)
    row[at.chunks] = outputTokens
    row[at.stalls] = maxUs > 1e6 ? 1 : 0
    if (outputTokens < 2) return
    row[at.gap_p50_us] = Math.round(gapUs)
    row[at.gap_p95_us] = Math.round(gapUs * 1.7)
    row[at.gap_max_us] = Math.round(maxUs)
    // Without usage the number of tokens is unknown.
    if (of.hasUsage) row[at.tpot_us] = Math.max(1, Math.round(tokenUs))
  }

  #usage(row: CallRow, model: GeneratedModel, inputTokens: number, outputTokens: number): void {
    const random = this.#random
    const isLocal = model.price === null && model.tokenMs !== null
    row[at.usage_source_id] = isLocal ? usageSourceCodes.timings : usageSourceCodes.usage
    const cached =
      inputTokens > 1024 && random() < 0.45 ? Math.floor((inputTokens * random()) / 128) * 128 : 0
    row[at.input_tokens] = inputTokens
    row[at.output_tokens] = outputTokens
    row[at.cached_input_tokens] = cached
    row[at.cache_write_tokens] = 0
    row[at.cache_write_1h_tokens] = 0
    row[at.reasoning_tokens] = Math.floor(outputTokens * model.reasoning)
    row[at.total_tokens] = inputTokens + outputTokens
    if (model.price === null) return
    const [input, output] = model.price
    row[at.cost_nano_usd] = Math.round(
      (inputTokens - cached * 0.75) * input * 1000 + outputTokens * output * 1000,
    )
    row[at.price_source_id] = this.#words.idOf('labels', 'snapshot')
    row[at.price_key_id] = this.#words.idOf('labels', model.name)
  }
}

/** Each upstream has a gateway of its own. */
export function instanceOf(upstream: string): string {
  return `gw-${upstreams.indexOf(upstream) + 1}`
}
