import { isObject } from '../lib/message-shape.ts'
import { readCompletionRequest } from './completion-request.ts'
import { type DemoCall, demoClients, sessionOf } from './demo-clients.ts'
import type { Past, PastStep } from './past.ts'
import type { PastRequest } from './past-call.ts'
import { PastGateway } from './past-gateway.ts'
import type { Incident } from './past-failures.ts'
import { type Random, seededRandom } from './random.ts'
import { arrayOf, modelOf, promptTokensOf } from './request-fields.ts'
import { embeddingModels } from './simulated-models.ts'

/** The import's name, which marks each of these calls. */
export const pastSource = 'demo'
/** More than two weeks, so that the last seven days can be compared with the seven before. */
export const pastDays = 15
/** Slots of the demo gateway. */
export const pastSlots = 4

/** Number of simulated calls in the past. */
const pastCalls = 16_000
const minuteMs = 60_000
const minutesPerDay = 1440

/** The hours in which one model was slow and refused calls. */
export interface PastIncident {
  readonly fromMs: number
  readonly toMs: number
  readonly model: string
}

/** How often a client begins a round, by day and by night. */
const weights: Readonly<Record<string, readonly [byDay: number, byNight: number]>> = {
  'demo-chat-app': [3, 3],
  'demo-agent': [4, 4],
  'demo-nightly-indexer': [0.1, 15],
  'demo-editor': [9, 9],
  'demo-impatient-person': [2.5, 2.5],
}

/** The incident: on the morning of a working day, two to four days before the end. */
export function pastIncident(endMs: number): PastIncident {
  const day = new Date(endMs)
  day.setHours(10, 0, 0, 0)
  day.setDate(day.getDate() - 2)
  while (isWeekend(day)) day.setDate(day.getDate() - 1)
  return { fromMs: day.getTime(), toMs: day.getTime() + 180 * minuteMs, model: 'simulated-large' }
}

/** Fifteen days before `endMs` of the demo clients' calls, who behave as in the live traffic. */
export function demoPast(endMs: number, seed: number, upstream: string): Past {
  const minutes = pastDays * minutesPerDay
  const { fromMs, toMs, model } = pastIncident(endMs)
  const hours = { of: model, fromMinute: fromMs / minuteMs, toMinute: toMs / minuteMs }
  const incidents: readonly Incident[] = [
    { kind: 'slow', ...hours },
    { kind: 'limited', ...hours },
  ]
  return {
    random: seededRandom(seed),
    calls: pastCalls,
    firstMinute: Math.floor(endMs / minuteMs) - minutes,
    minutes,
    aheadOfUtc: -new Date(endMs).getTimezoneOffset(),
    incidents,
    gateways: [new PastGateway(upstream, pastSource, pastSlots)],
    clients: demoClients.map(({ name, round }) => {
      const [weight, nightWeight] = weights[name] ?? [1, 1]
      const steps = function* (random: Random): Generator<PastStep> {
        for (const step of round(random, sessionOf(name, random)))
          yield typeof step === 'number' ? step : step.map((call) => requestOf(call, upstream))
      }
      const caller = { client: name, userAgent: 'node', source: pastSource }
      return { caller, weight, nightWeight, round: steps }
    }),
  }
}

function isWeekend(day: Date): boolean {
  return day.getDay() === 0 || day.getDay() === 6
}

function requestOf({ path, body, leaveAfterMs, ...call }: DemoCall, upstream: string): PastRequest {
  const place = { endpoint: `/v1${path}`, upstream }
  const session = call.session ?? null
  const base = { session, stream: false, promptTokens: 0, cachedTokens: 0 }
  if (!isObject(body)) return { ...base, model: { id: '', callType: 'props', firstTokenMs: 1.5, ...place } }
  if (path === '/embeddings') {
    const { id, firstTokenMs, perInputMs } = modelOf(body, embeddingModels)
    const inputs = arrayOf(body['input'])
    const promptTokens = inputs.reduce<number>((sum, each) => sum + promptTokensOf(each), 0)
    const model = { id, firstTokenMs: firstTokenMs + perInputMs * inputs.length, ...place }
    return { ...base, promptTokens, model: { ...model, callType: 'embedding' } }
  }
  const request = readCompletionRequest(path === '/completions' ? 'text' : 'chat', body)
  const { model, stream, promptTokens, cachedTokens, tool, maxTokens } = request
  // A tool's arguments are short.
  const outputTokens = Math.min(model.outputTokens, maxTokens ?? Infinity, tool === null ? Infinity : 12)
  return {
    session,
    stream,
    promptTokens,
    cachedTokens,
    tool: tool?.name ?? null,
    ...(leaveAfterMs === undefined ? {} : { leaveAfterMs }),
    model: { ...model, outputTokens, callType: 'chat', ...place },
  }
}
